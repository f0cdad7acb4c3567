import { type CsvColumns, csvText } from '../../values/csv.ts'
import { decimal } from '../../values/money.ts'
import type { Costs } from './costs.ts'

type Period = Costs['total']['periods'][number]
interface Line extends Period {
  readonly agentId: string
  readonly name: string
}

export const costColumns: CsvColumns<Line> = {
  from: ({ from }) => from,
  agentId: ({ agentId }) => agentId,
  name: ({ name }) => csvText(name),
  count: ({ count }) => String(count),
  spentEuros: ({ spentEuros }) => decimal(spentEuros),
  refundedEuros: ({ refundedEuros }) => decimal(refundedEuros),
  netEuros: ({ netEuros }) => decimal(netEuros),
  feesEuros: ({ feesEuros }) => decimal(feesEuros),
  deniedCount: ({ deniedCount }) => String(deniedCount),
  deniedEuros: ({ deniedEuros }) => decimal(deniedEuros),
}

/** A line for each agent and period; together they are the total. */
export const costLines = ({ data, other }: Costs): Line[] => [
  ...data.flatMap(({ agentId, name, periods }) =>
    periods.map(period => ({ ...period, agentId: agentId ?? '', name: name ?? 'owner' })),
  ),
  ...(other?.periods ?? []).map(period => ({ ...period, agentId: '', name: 'other' })),
]
