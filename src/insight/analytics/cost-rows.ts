import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { spanBefore } from '../reports/index.ts'
import { linesOf, parametersOf, type Span, type Spend } from '../spend/index.ts'

export const costPeriods = ['day', 'week', 'month'] as const
export type CostPeriod = (typeof costPeriods)[number]

/** The sums of an agent in a period, or of all agents that are not told one by one. */
export interface CostRow extends Row {
  readonly view: 'agent' | 'kept_back'
  /** Empty where the owner has paid; null: the rest. */
  readonly agentId: string | null
  /** The first day of the period; null: in the span before. */
  readonly period: string | null
  readonly payments: number
  readonly spentEuros: Euros
  readonly refundedEuros: Euros
  readonly feesEuros: Euros
  /** How many agents there are in all. */
  readonly agents: number
}

export const costViews = ['agent', 'kept_back'] as const

/** An intent that nobody decided about in time is no refusal. */
const SUMS = `
sum(payments)::int as payments, sum(spent_cents)::bigint as "spentEuros", sum(refunded_cents)::bigint as "refundedEuros",
  sum(fee_cents)::bigint as "feesEuros", (select count(*) from ranked)::int as agents`

/** The agents with the highest net spend of the span are told one by one; ranks are taken where the sums are read. */
const textOf = (ofAgent: { agentId?: string | undefined }, from: string, most: string): string => `
with ${linesOf(ofAgent)},
told as materialized (
  select * from lines where view = 'agent' or value not like 'expired %'
),
ranked as (
  select agent_id, row_number() over (
    order by coalesce(sum(spent_cents - refunded_cents) filter (where view = 'agent' and day >= ${from}), 0) desc, agent_id
  ) as place from told group by agent_id
)
select view, case when place <= ${most} then agent_id end as "agentId", ${SUMS},
  case when day >= ${from} then date_trunc(PERIOD, day::timestamp)::date::text end as period
from told join ranked using (agent_id) group by 1, 2, period`

export interface CostsWanted extends Span {
  readonly groupBy: CostPeriod
  readonly agentId?: string | undefined
  /** How many agents are told one by one. */
  readonly most: number
}

/** Reads the sums of a span and of the one before it in one statement. */
export async function costRows(spend: Spend, wanted: CostsWanted): Promise<CostRow[]> {
  const { agentId, groupBy, most, from, before } = wanted
  const earlier = spanBefore(wanted)
  const question = { agentId, from: earlier.from, before, views: costViews }
  const parameters = parametersOf(spend, question)
  const place = parameters.length + 1
  const text = textOf({ agentId }, `$${place}::date`, `$${place + 1}`).replace('PERIOD', `'${groupBy}'`)
  return spend.sql<CostRow>(text, [...parameters, from, most])
}
