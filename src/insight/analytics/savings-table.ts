import { type CsvColumns, csvText } from '../../values/csv.ts'
import { decimal, type Euros } from '../../values/money.ts'
import type { Savings } from './savings.ts'
import type { SavingsByAgent } from './savings-by-agent.ts'

interface Line {
  readonly how: string
  readonly rule: string
  readonly agentId: string
  readonly name: string
  readonly count: number | null
  readonly amountEuros: Euros
}

export const savingColumns: CsvColumns<Line> = {
  how: ({ how }) => how,
  rule: ({ rule }) => csvText(rule),
  agentId: ({ agentId }) => agentId,
  name: ({ name }) => csvText(name),
  count: ({ count }) => (count === null ? '' : String(count)),
  amountEuros: ({ amountEuros }) => decimal(amountEuros),
}

type Told = Pick<Savings, 'refundedEuros' | 'disputesWon'>

const gotBack = ({ refundedEuros, disputesWon }: Told) => [
  { how: 'refunded', rule: '', count: null, amountEuros: refundedEuros },
  { how: 'disputes_won', rule: '', ...disputesWon },
]

const OF_ALL = { agentId: '', name: '' }

export function savingLines({ agents, other, ...savings }: Savings & SavingsByAgent): Line[] {
  if (!agents) return [...savings.keptBack.rules, ...gotBack(savings)].map(line => ({ ...line, ...OF_ALL }))
  const told = [
    ...agents.map(one => ({ ...one, agentId: one.agentId ?? '', name: one.name ?? 'owner' })),
    ...(other ? [{ ...other, agentId: '', name: 'other' }] : []),
  ]
  return told.flatMap(({ agentId, name, ...one }) =>
    [{ how: 'kept_back', rule: '', ...one.keptBack }, ...gotBack(one)].map(line => ({
      ...line,
      agentId,
      name,
    })),
  )
}
