export const CSV_TYPE = 'text/csv'

/** A table, RFC 4180 in UTF-8: the other form of a report. See `csv` of a contract. */
export class CsvFile {
  readonly type = `${CSV_TYPE}; charset=utf-8; header=present`
  readonly name: string
  readonly content: string

  constructor(name: string, content: string) {
    this.name = name
    this.content = content
  }
}
