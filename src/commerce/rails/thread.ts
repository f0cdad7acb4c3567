import { type BankMessage, readMessage } from '../../iso20022/bank-message.ts'
import { readXmlFile, type Unreadable } from '../../iso20022/xml-encoding.ts'

/** Reads a bank's file in a thread, since a file may be long. A thread must load no database. */
export const messageIn = (bytes: Uint8Array, today: string): BankMessage | Unreadable =>
  readXmlFile(bytes, document => readMessage(document, today))
