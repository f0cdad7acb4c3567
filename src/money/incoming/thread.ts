import { type BankFile, readCamt } from '../../iso20022/camt.ts'
import { readXmlFile, type Unreadable } from '../../iso20022/xml-encoding.ts'

/** Runs in threads, which parse long files. Its imports must not reach a database. */
export const parseBankFile = (bytes: Uint8Array, today: string): BankFile | Unreadable =>
  readXmlFile(bytes, document => readCamt(document, today))
