/** The first characters by which a spreadsheet takes a text for a formula, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** A cell with a text that others may have written: no spreadsheet runs it. */
export function csvText(value: string | null): string {
  const harmless = (value ?? '').replace(FORMULA, "'$&")
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

export const csvLine = (cells: readonly string[]): string => `${cells.join(',')}\r\n`
