import { type CsvColumns, csvLine, csvText } from '../../values/csv.ts'
import { decimal } from '../../values/money.ts'
import type { Movement } from './movements.ts'

/** The columns by name. Free text goes through `csvText`, since others may have written it. */
const columns: CsvColumns<Movement> = {
  bookedAt: ({ bookedAt }) => bookedAt.toISOString(),
  valueDate: ({ valueDate }) => valueDate,
  kind: ({ kind }) => csvText(kind.words),
  counterparty: ({ name }) => csvText(name),
  counterpartyAccount: ({ iban, walletId }) => csvText(iban ?? walletId),
  reference: ({ reference }) => csvText(reference),
  endToEndId: ({ endToEndId }) => csvText(endToEndId),
  amountEuros: ({ amountEuros }) => decimal(amountEuros),
  balanceEuros: ({ balanceEuros }) => decimal(balanceEuros),
  postingId: ({ postingId }) => postingId,
}

export async function* csvOf(pages: AsyncIterable<readonly Movement[]>): AsyncGenerator<string> {
  yield csvLine(Object.keys(columns))
  for await (const page of pages)
    yield page.map(movement => csvLine(Object.values(columns).map(column => column(movement)))).join('')
}
