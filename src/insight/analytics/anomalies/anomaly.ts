import type { Row } from '../../../kernel/contract/sql.ts'
import { type Cents, formatMoney } from '../../../values/money.ts'
import type { ChargeInterval } from '../charge-series.ts'

export const anomalyKinds = [
  'day_above_usual',
  'merchant_above_usual',
  'subscription_dearer',
  'charged_twice',
  'new_merchant',
  'budget_at_this_pace',
  'outside_of_runs',
] as const

export const anomalyGroupings = ['kind', 'agent', 'merchant'] as const
export type AnomalyGrouping = (typeof anomalyGroupings)[number]

interface AnomalyFigures {
  readonly amountCents: Cents
  readonly usualCents?: Cents
  readonly limitCents?: Cents
  readonly share?: number
  readonly deviations?: number
  readonly times?: number
}

export interface Anomaly {
  readonly kind: (typeof anomalyKinds)[number]
  /** The agent that paid. Null if the owner paid. */
  readonly agentId: string | null
  readonly merchant: string | null
  readonly day: string
  readonly sentence: string
  readonly figures: AnomalyFigures
  readonly score: number
}

export const anomalyScore = (value: number, bound: number): number =>
  value > 0 ? 1 - bound / (2 * Math.max(value, bound)) : 0.5

export const formatPercent = (share: number): string => `${Math.round(share * 100)} %`
export const formatAmountText = formatMoney
export const roundToCents = (value: number): number => Math.round(value * 100) / 100

export interface AnomalyCandidate extends Row {
  readonly kind: (typeof anomalyKinds)[number]
  readonly agentId: string
  readonly merchant: string | null
  readonly day: string
  readonly amountCents: Cents
  readonly usualCents: Cents | null
  /** How far the amount exceeds the bound of its kind, from which `anomalyScore` computes the score. */
  readonly measure: number
  readonly times: number | null
  readonly every: ChargeInterval | null
}

export type AnomalyText = Pick<Anomaly, 'sentence' | 'figures'> & { readonly score: number }

const COLUMNS = [
  'kind',
  'agent_id as "agentId"',
  'merchant',
  'day::text as day',
  'amount::bigint as "amountCents"',
  'usual::bigint as "usualCents"',
  'measure::float8 as measure',
  'times::int as times',
  'every',
].join(', ')

/**
 * SQL: the most unusual candidates of each kind, with the count of all. Each select of `kinds` has the
 * columns agent_id, merchant, day, amount, usual, measure, times and every.
 */
export const mostUnusualSql = (kinds: Readonly<Record<string, string>>, limit: string): string =>
  Object.entries(kinds)
    .map(
      ([kind, select]) => `
(select ${COLUMNS}, count(*) over ()::int as "inAll" from (
  select '${kind}' as kind, one.* from (${select}) as one (agent_id, merchant, day, amount, usual, measure, times, every)
) as found order by measure desc, day, agent_id, merchant limit ${limit})`,
    )
    .join(' union all ')
