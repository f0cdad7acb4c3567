import { fileAs, type Unreadable } from '../../kernel/xml-text.ts'
import { type BankFile, MOST_TOLD, readCamt } from './camt.ts'

export { MOST_TOLD, readCamt }

/** What threads load of this area: the reading of files, which may be long. Nothing here knows a database. */
export const bookingsIn = (bytes: Uint8Array, today: string): BankFile | Unreadable =>
  fileAs(bytes, document => readCamt(document, today))
