import { decimal } from '../../values/money.ts'
import type { Movement } from './movements.ts'

/** The columns by name. Free text goes through `text`, since others may have written it. */
const columns: Readonly<Record<string, (movement: Movement) => string>> = {
  bookedAt: ({ bookedAt }) => bookedAt.toISOString(),
  valueDate: ({ valueDate }) => valueDate,
  kind: ({ kind }) => text(kind.words),
  counterparty: ({ name }) => text(name),
  counterpartyAccount: ({ iban, walletId }) => text(iban ?? walletId),
  reference: ({ reference }) => text(reference),
  endToEndId: ({ endToEndId }) => text(endToEndId),
  amountEuros: ({ amountEuros }) => decimal(amountEuros),
  balanceEuros: ({ balanceEuros }) => decimal(balanceEuros),
  postingId: ({ postingId }) => postingId,
}

/** The first characters by which a spreadsheet takes a text for a formula, full-width forms included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

function text(value: string | null): string {
  const harmless = (value ?? '').replace(FORMULA, "'$&")
  return /[",\r\n']/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

export async function* csvOf(pages: AsyncIterable<readonly Movement[]>): AsyncGenerator<string> {
  yield line(Object.keys(columns))
  for await (const page of pages)
    yield page.map(movement => line(Object.values(columns).map(column => column(movement)))).join('')
}
