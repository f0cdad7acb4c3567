import { fileAs, type Unreadable } from '../../kernel/xml-text.ts'
import { type BankMessage, readMessage } from './bank-message.ts'

/** What threads load of this area: the reading of files, which may be long. Nothing here knows a database. */
export const messageIn = (bytes: Uint8Array, today: string): BankMessage | Unreadable =>
  fileAs(bytes, document => readMessage(document, today))
