import type { Row } from '../../kernel/contract/sql.ts'
import { type CsvColumns, csvCell } from '../../values/csv.ts'
import { type Cents, formatDecimal, sumOf } from '../../values/money.ts'
import {
  computeSpendFigures,
  daysBetween,
  previousSpan,
  ratioOf,
  readAgentNames,
  relativeChange,
} from '../reports/index.ts'
import { type DaySpan, type SpendSnapshot, spendLinesSql, spendQueryParameters } from '../spend/index.ts'

export const costPeriods = ['day', 'week', 'month'] as const
type CostPeriod = (typeof costPeriods)[number]

interface CostRow extends Row {
  readonly view: 'agent' | 'kept_back'
  readonly agentId: string | null
  /** The first day of the period; null for the span before. */
  readonly period: string | null
  readonly payments: number
  readonly spentCents: Cents
  readonly refundedCents: Cents
  readonly feesCents: Cents
  readonly agents: number
}

export const costViews = ['agent', 'kept_back'] as const

/** An intent that expired without a decision is not a refusal. */
const SUMS = `
sum(payments)::int as payments, sum(spent_cents)::bigint as "spentCents", sum(refunded_cents)::bigint as "refundedCents",
  sum(fee_cents)::bigint as "feesCents", (select count(*) from ranked)::int as agents`

/** Lists the agents with the highest net spend of the span. Ranks are computed where the sums are read. */
const textOf = (ofAgent: { agentId?: string | undefined }, from: string, most: string): string => `
with ${spendLinesSql(ofAgent)},
lines_read as materialized (
  select * from lines where view = 'agent' or value not like 'expired %'
),
ranked as (
  select agent_id, row_number() over (
    order by coalesce(sum(spent_cents - refunded_cents) filter (where view = 'agent' and day >= ${from}), 0) desc, agent_id
  ) as place from lines_read group by agent_id
)
select view, case when place <= ${most} then agent_id end as "agentId", ${SUMS},
  case when day >= ${from} then date_trunc(PERIOD, day::timestamp)::date::text end as period
from lines_read join ranked using (agent_id) group by 1, 2, period`

interface CostsWanted extends DaySpan {
  readonly groupBy: CostPeriod
  readonly agentId?: string | undefined
  readonly most: number
}

async function costRows(spend: SpendSnapshot, wanted: CostsWanted): Promise<CostRow[]> {
  const { agentId, groupBy, most, from, before } = wanted
  const earlier = previousSpan(wanted)
  const question = { agentId, from: earlier.from, before, views: costViews }
  const parameters = spendQueryParameters(spend, question)
  const place = parameters.length + 1
  const text = textOf({ agentId }, `$${place}::date`, `$${place + 1}`).replace('PERIOD', `'${groupBy}'`)
  return spend.sql<CostRow>(text, [...parameters, from, most])
}

/** Bounds the lines of a report: the more periods, the fewer agents are listed. */
const MOST_LINES = 5_000
const DAYS = { day: 1, week: 7, month: 28 } as const

const periodsIn = ({ from, before, groupBy }: CostsWanted): number =>
  Math.ceil(daysBetween(from, before) / DAYS[groupBy]) + 1

const add = (rows: readonly CostRow[], of: (row: CostRow) => Cents): Cents => sumOf(rows.map(of))

function totalOf(rows: readonly CostRow[]) {
  const denied = rows.filter(({ view }) => view === 'kept_back')
  const paid = rows.filter(({ view }) => view === 'agent')
  return {
    ...computeSpendFigures(paid),
    feesCents: add(paid, ({ feesCents }) => feesCents),
    deniedCount: denied.reduce((total, { payments }) => total + payments, 0),
    deniedCents: add(denied, ({ spentCents }) => spentCents),
  }
}

function lineOf(rows: readonly CostRow[], wholeCents: Cents) {
  const within = rows.filter(({ period }) => period !== null)
  const total = totalOf(within)
  const before = computeSpendFigures(rows.filter(({ view, period }) => view === 'agent' && period === null))
  const periods = [...Map.groupBy(within, ({ period }) => String(period))]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([from, ofPeriod]) => ({ from, ...totalOf(ofPeriod) }))
  return {
    ...total,
    share: ratioOf(total.netCents, wholeCents),
    netBeforeCents: before.netCents,
    change: relativeChange(total.netCents, before.netCents),
    periods,
  }
}

/** The owner's own payments are a line without an agent. */
export async function computeCosts(spend: SpendSnapshot, wanted: CostsWanted) {
  const most = Math.max(1, Math.min(wanted.most, Math.floor(MOST_LINES / periodsIn(wanted))))
  const rows = await costRows(spend, { ...wanted, most })
  const total = lineOf(
    rows,
    computeSpendFigures(rows.filter(({ view, period }) => view === 'agent' && period !== null)).netCents,
  )
  const byAgent = Map.groupBy(rows, ({ agentId }) => agentId)
  const rest = byAgent.get(null)
  byAgent.delete(null)
  const ids = [...byAgent.keys()].flatMap(id => id || [])
  const names = await readAgentNames(spend, ids)
  const data = [...byAgent]
    .map(([agentId, ofAgent]) => ({
      agentId: agentId || null,
      name: names.get(agentId ?? '') ?? null,
      ...lineOf(ofAgent, total.netCents),
    }))
    .filter(
      ({ count, deniedCount, refundedCents, netBeforeCents }) =>
        count + deniedCount > 0 || refundedCents !== 0n || netBeforeCents !== 0n,
    )
    .sort(
      (one, other) =>
        Number(other.netCents - one.netCents) || (String(one.agentId) < String(other.agentId) ? -1 : 1),
    )
  const agents = (rest?.[0]?.agents ?? 0) - byAgent.size
  return { total, data, other: rest ? { agents, ...lineOf(rest, total.netCents) } : null }
}

type Costs = Awaited<ReturnType<typeof computeCosts>>

type Period = Costs['total']['periods'][number]
interface Line extends Period {
  readonly agentId: string
  readonly name: string
}

export const costColumns: CsvColumns<Line> = {
  from: ({ from }) => from,
  agentId: ({ agentId }) => agentId,
  name: ({ name }) => csvCell(name),
  count: ({ count }) => String(count),
  spentCents: ({ spentCents }) => formatDecimal(spentCents),
  refundedCents: ({ refundedCents }) => formatDecimal(refundedCents),
  netCents: ({ netCents }) => formatDecimal(netCents),
  feesCents: ({ feesCents }) => formatDecimal(feesCents),
  deniedCount: ({ deniedCount }) => String(deniedCount),
  deniedCents: ({ deniedCents }) => formatDecimal(deniedCents),
}

export const costCsvLines = ({ data, other }: Costs): Line[] => [
  ...data.flatMap(({ agentId, name, periods }) =>
    periods.map(period => ({ ...period, agentId: agentId ?? '', name: name ?? 'owner' })),
  ),
  ...(other?.periods ?? []).map(period => ({ ...period, agentId: '', name: 'other' })),
]
