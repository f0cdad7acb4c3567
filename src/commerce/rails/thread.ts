import { type BankMessage, readMessage } from '../../iso20022/bank-message.ts'
import { readXmlFile, type Unreadable } from '../../iso20022/xml-encoding.ts'

/** What threads load of this area: the reading of files, which may be long. Nothing here knows a database. */
export const messageIn = (bytes: Uint8Array, today: string): BankMessage | Unreadable =>
  readXmlFile(bytes, document => readMessage(document, today))
