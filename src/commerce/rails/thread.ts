import { type BankMessage, readMessage } from '../../iso20022/bank-message.ts'
import { readXmlFile, type Unreadable } from '../../iso20022/xml-encoding.ts'

/** Runs in a thread, since a file may be long. A thread must not load a database. */
export const messageIn = (bytes: Uint8Array, today: string): BankMessage | Unreadable =>
  readXmlFile(bytes, document => readMessage(document, today))
