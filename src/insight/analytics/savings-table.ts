import { type CsvColumns, csvText } from '../../values/csv.ts'
import { decimal, type Euros } from '../../values/money.ts'
import type { Savings } from './savings.ts'

interface Line {
  readonly how: string
  readonly rule: string
  readonly count: number | null
  readonly amountEuros: Euros
}

export const savingColumns: CsvColumns<Line> = {
  how: ({ how }) => how,
  rule: ({ rule }) => csvText(rule),
  count: ({ count }) => (count === null ? '' : String(count)),
  amountEuros: ({ amountEuros }) => decimal(amountEuros),
}

export const savingLines = ({ keptBack, refundedEuros, disputesWon }: Savings): Line[] => [
  ...keptBack.rules,
  { how: 'refunded', rule: '', count: null, amountEuros: refundedEuros },
  { how: 'disputes_won', rule: '', ...disputesWon },
]
