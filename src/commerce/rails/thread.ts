import { type BankMessage, parseBankMessage } from '../../iso20022/bank-message.ts'
import { parseXmlFile, type UnreadableFile } from '../../iso20022/xml-encoding.ts'

/** Runs in a thread, since a file may be long. A thread must not load a database. */
export const messageIn = (bytes: Uint8Array, today: string): BankMessage | UnreadableFile =>
  parseXmlFile(bytes, document => parseBankMessage(document, today))
