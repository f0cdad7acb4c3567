import { jsonName } from './json-names.ts'

/**
 * The places where a spreadsheet takes a text for a formula, full-width signs included: its beginning, and
 * behind a semicolon, a tab or a line break, because many countries' spreadsheets divide cells by semicolons
 * and then ignore quotes within a line.
 */
const FORMULA = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g

/** No spreadsheet takes the cell for a formula, even if a stranger wrote the text. */
export function csvCell(value: string | null): string {
  const harmless = (value ?? '').replace(FORMULA, "'")
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export const csvLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

export type CsvColumns<T> = Readonly<Record<string, (row: T) => string>>

export const csvHeader = (columns: object): string => csvLine(Object.keys(columns).map(jsonName))

/** A table with a line of names: RFC 4180. */
export const renderCsv = <T>(columns: CsvColumns<T>, rows: readonly T[]): string =>
  [csvHeader(columns), ...rows.map(row => csvLine(Object.values(columns).map(column => column(row))))].join(
    '',
  )
