import { type BankFile, parseCamt } from '../../iso20022/camt.ts'
import { parseXmlFile, type UnreadableFile } from '../../iso20022/xml-encoding.ts'

/** Runs in threads, which parse long files. Its imports must not reach a database. */
export const parseBankFile = (bytes: Uint8Array, today: string): BankFile | UnreadableFile =>
  parseXmlFile(bytes, document => parseCamt(document, today))
