import { medianInSql } from '../../../control/risk/index.ts'
import { RHYTHMS } from '../rhythms/rhythm.ts'
import { inEuros, inPercent, rounded, scoreOf } from './anomaly.ts'
import type { Candidate, Telling } from './candidates.ts'

/** From one percent on: less is a matter of rounding and exchange rates. */
const LEAST_RISE = 0.01
const words = { week: 'weekly', month: 'monthly' } as const

const MOST_APART = `case every ${Object.entries(RHYTHMS)
  .map(([every, { most }]) => `when '${every}' then ${most + 1}`)
  .join(' ')} end`

/** SQL: those of `runs` whose last charge, since `from`, is dearer than the one before. */
export const dearerSubscriptions = (from: string): string => `
select agent_id, value, last_day, last_cents, before_cents, (last_cents - before_cents) / before_cents::float8 as rise, times, every
from (
  select *, cardinality(days) as times, days[cardinality(days)] as last_day, cents[cardinality(days)] as last_cents,
    nullif(cents[cardinality(days) - 1], 0) as before_cents from runs
) as one
where broken_on is null and last_day >= ${from} and $5::date - last_day <= ${MOST_APART}
  and (last_cents - before_cents) / before_cents::float8 >= ${LEAST_RISE}`

export function dearerTold(of: Candidate): Telling {
  const { merchant, every, amountEuros, measure: rise, times } = of
  const usualEuros = of.usualEuros ?? 0n
  return {
    sentence: `The ${words[every ?? 'month']} charge of ${merchant} has risen from ${inEuros(usualEuros)} to ${inEuros(amountEuros)}, by ${inPercent(rise)}.`,
    figures: { amountEuros, usualEuros, share: rounded(rise), times: times ?? 0 },
    score: scoreOf(rise, LEAST_RISE * 5),
  }
}

/** So many days with a single charge tell what one costs. */
const LEAST_SINGLE = 2

/**
 * SQL: days with several charges where there is one as a rule, each as expensive as that, or as the price of the rhythm: the merchant
 * may have charged twice.
 */
export const chargedTwice = (from: string): string => `
with usual as materialized (
  select agent_id, value, round((${medianInSql('spent')} filter (where payments = 1))::numeric) as price, array_agg(day) as days
  from of_merchants where payments > 0 group by 1, 2
  having count(*) filter (where payments = 1) >= greatest(${LEAST_SINGLE}, count(*) / 2.0)
),
prices as (
  select agent_id, value, day, price from usual cross join lateral unnest(days) as one (day)
  union
  select agent_id, value, day, price from runs cross join lateral unnest(days, cents) as one (day, price)
)
select agent_id, value, day, spent, price, 0, payments, null::text
from prices join of_merchants using (agent_id, value, day)
where day >= ${from} and payments > 1 and price > 0 and spent = price * payments and refunded = 0`

export const twiceTold = ({ merchant, day, amountEuros, usualEuros, times }: Candidate): Telling => ({
  sentence: `${merchant} has charged ${inEuros(usualEuros ?? 0n)} ${times} times on ${day}; it charges once a day as a rule.`,
  figures: { amountEuros, usualEuros: usualEuros ?? 0n, times: times ?? 0 },
  score: 0.9,
})
