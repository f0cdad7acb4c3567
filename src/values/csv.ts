import { jsonName } from './json-names.ts'

/**
 * The places where a spreadsheet takes a text for a formula, full-width signs included: its beginning, and, as those of many
 * countries divide cells by semicolons and then know no quotes within a line, what stands behind a semicolon, a tab or a line
 * break.
 */
const FORMULA = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g

/** A text as a cell of a table, whoever has written it: no spreadsheet takes it for a formula. */
export function csvText(value: string | null): string {
  const harmless = (value ?? '').replace(FORMULA, "'")
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export const csvLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

/** The columns of a table by name, which is in the table as in JSON, each with its cell of a row. Free text goes through `csvText`. */
export type CsvColumns<T> = Readonly<Record<string, (row: T) => string>>

/** The line of names. */
export const csvHead = (columns: object): string => csvLine(Object.keys(columns).map(jsonName))

/** A table with a line of names: RFC 4180. */
export const csvOf = <T>(columns: CsvColumns<T>, rows: readonly T[]): string =>
  [csvHead(columns), ...rows.map(row => csvLine(Object.values(columns).map(column => column(row))))].join('')
