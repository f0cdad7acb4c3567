import type { Row } from '../../../kernel/contract/sql.ts'
import { type Cents, formatMoney } from '../../../values/money.ts'
import type { Every } from '../rhythm.ts'

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

/** The figures that the sentence rests on; those that it does not are left out. */
interface Rests {
  readonly amountCents: Cents
  readonly usualCents?: Cents
  readonly limitCents?: Cents
  readonly share?: number
  readonly deviations?: number
  readonly times?: number
}

/** Something that a person may want to look at. */
export interface Anomaly {
  readonly kind: (typeof anomalyKinds)[number]
  /** Null where the owner has paid. */
  readonly agentId: string | null
  readonly merchant: string | null
  /** The day, or the last of the days, on which it showed. */
  readonly day: string
  readonly sentence: string
  readonly figures: Rests
  /** From 0.5, just unusual, up to 1. */
  readonly score: number
}

/** How far a value lies beyond the bound from which on it is unusual. */
export const scoreOf = (value: number, bound: number): number =>
  value > 0 ? 1 - bound / (2 * Math.max(value, bound)) : 0.5

export const inPercent = (share: number): string => `${Math.round(share * 100)} %`
export const inWords = formatMoney
export const rounded = (value: number): number => Math.round(value * 100) / 100

/** What the database has found to be unusual, with the figures that it rests on. */
export interface Candidate extends Row {
  readonly kind: (typeof anomalyKinds)[number]
  /** Empty where the owner has paid. */
  readonly agentId: string
  readonly merchant: string | null
  readonly day: string
  readonly amountCents: Cents
  /** What is usual, what was before, or the limit, in cents. */
  readonly usualCents: Cents | null
  /** How far it is beyond the bound, by the measure of its kind. */
  readonly measure: number
  readonly times: number | null
  readonly every: Every | null
}

/** What a kind of anomaly says of a candidate. */
export type Telling = Pick<Anomaly, 'sentence' | 'figures'> & { readonly score: number }

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
 * SQL: the most unusual of each kind, with how many there are of it. `kinds` has a select for each, whose columns are agent_id,
 * merchant, day, amount, usual, measure, times and every.
 */
export const mostUnusual = (kinds: Readonly<Record<string, string>>, limit: string): string =>
  Object.entries(kinds)
    .map(
      ([kind, select]) => `
(select ${COLUMNS}, count(*) over ()::int as "inAll" from (
  select '${kind}' as kind, one.* from (${select}) as one (agent_id, merchant, day, amount, usual, measure, times, every)
) as found order by measure desc, day, agent_id, merchant limit ${limit})`,
    )
    .join(' union all ')
