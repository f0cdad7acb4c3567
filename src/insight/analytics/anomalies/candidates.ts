import type { Row } from '../../../kernel/contract/sql.ts'
import type { Euros } from '../../../values/money.ts'
import type { Every } from '../rhythms/rhythm.ts'
import type { Anomaly, anomalyKinds } from './anomaly.ts'

/** What the database has found to be unusual, with the figures that it rests on. */
export interface Candidate extends Row {
  readonly kind: (typeof anomalyKinds)[number]
  /** Empty where the owner has paid. */
  readonly agentId: string
  readonly merchant: string | null
  readonly day: string
  readonly amountEuros: Euros
  /** What is usual, what was before, or the limit, in cents. */
  readonly usualEuros: Euros | null
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
  'amount::bigint as "amountEuros"',
  'usual::bigint as "usualEuros"',
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
