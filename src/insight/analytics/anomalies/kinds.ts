import { deviationSql, MAX_USUAL_DEVIATIONS, medianSql } from '../../../control/risk/index.ts'
import { NO_CENTS } from '../../../values/money.ts'
import { CHARGE_INTERVALS } from '../charge-series.ts'
import {
  type AnomalyCandidate,
  type AnomalyText,
  anomalyScore,
  formatAmountText,
  formatPercent,
  roundToCents,
} from './anomaly.ts'

const USUAL_DAYS = 182
const LEAST_DAYS = { day_above_usual: 14, merchant_above_usual: 8 } as const
type Kind = keyof typeof LEAST_DAYS

/**
 * SQL: the days since `from` that lie far above the other days on which a series of `days` has cost
 * something. Each series keeps its days in an array beside its usual amount: PostgreSQL cannot estimate how
 * many there are, and would join them one by one.
 */
export const outlierDaysSql = (kind: Kind, days: string, from: string): string => `
with series as materialized (
  select agent_id, value, ${medianSql('spent')} as usual, array_agg(day) as days, array_agg(spent) as sums
  from ${days} where spent > 0 and day >= least($5::date - ${USUAL_DAYS}, ${from})
  group by 1, 2 having count(*) >= ${LEAST_DAYS[kind]}
),
measured as materialized (
  select *, (select ${deviationSql('spent', 'usual')} from unnest(sums) as spent) as deviation from series
)
select agent_id, ${kind === 'day_above_usual' ? 'null::text' : 'value'}, day, spent, round(usual::numeric),
  round(((spent - usual) / deviation)::numeric, 2), null::int, null::text
from measured cross join lateral unnest(days, sums) as one (day, spent)
where day >= ${from} and round(((spent - usual) / deviation)::numeric, 2) > ${MAX_USUAL_DEVIATIONS}`

const sentences: Readonly<Record<Kind, (far: AnomalyCandidate) => string>> = {
  day_above_usual: ({ amountCents, day, usualCents }) =>
    `${formatAmountText(amountCents)} was spent on ${day}; the usual amount is ${formatAmountText(usualCents ?? NO_CENTS)}.`,
  merchant_above_usual: ({ amountCents, day, merchant, usualCents }) =>
    `${merchant} received ${formatAmountText(amountCents)} on ${day}; the usual amount is ${formatAmountText(usualCents ?? NO_CENTS)} a day.`,
}

export const describeOutlier =
  (kind: Kind) =>
  (far: AnomalyCandidate): AnomalyText => ({
    sentence: sentences[kind](far),
    figures: {
      amountCents: far.amountCents,
      usualCents: far.usualCents ?? NO_CENTS,
      deviations: roundToCents(far.measure),
    },
    score: anomalyScore(far.measure, MAX_USUAL_DEVIATIONS),
  })

const LARGE_SHARE = 0.2

export const newMerchantsSql = (from: string): string => `
with whole as materialized (
  select agent_id, sum(spent) filter (where day >= ${from}) as spent from of_agents group by 1
  having bool_or(day < ${from} and payments > 0)
),
firsts as materialized (
  select agent_id, value, min(day) as day, sum(spent) as spent from of_merchants where payments > 0 group by 1, 2
  having min(day) >= ${from}
),
unknown as (
  select * from firsts where not exists (
    select from spend_cells c where (c.owner_id, c.mode, c.view, c.value, c.agent_id) = ($1, $2, 'merchant', firsts.value, firsts.agent_id)
      and c.day < ${from} and c.payments > 0)
)
select agent_id, value, unknown.day, unknown.spent, null::numeric, unknown.spent / whole.spent::float8, null::int, null::text
from unknown join whole using (agent_id)
where whole.spent > 0 and unknown.spent / whole.spent::float8 >= ${LARGE_SHARE}`

export const describeNewMerchant = ({
  merchant,
  day,
  amountCents,
  measure: share,
}: AnomalyCandidate): AnomalyText => ({
  sentence: `${merchant} is a new merchant since ${day} and has received ${formatAmountText(amountCents)}: ${formatPercent(share)} of all spending.`,
  figures: { amountCents, share: roundToCents(share) },
  score: anomalyScore(share, LARGE_SHARE),
})

const MOSTLY_IN_RUNS = 0.5

export const SPEND_OUTSIDE_RUNS_SQL = `
with sums as (
  select agent_id, sum(spent_cents) as whole, coalesce(sum(spent_cents) filter (where run_id = ''), 0) as outside,
    sum(payments) filter (where run_id = '') as payments
  from lines group by 1
)
select agent_id, null::text, $5::date - 1, outside, null::numeric, outside / whole::float8, payments, null::text
from sums where outside > 0 and whole > 0 and 1 - outside / whole::float8 >= ${MOSTLY_IN_RUNS}`

export const describeSpendOutsideRuns = ({
  amountCents,
  measure: share,
  times,
}: AnomalyCandidate): AnomalyText => ({
  sentence: `${formatAmountText(amountCents)} was spent outside of runs: ${formatPercent(share)} of all spending.`,
  figures: { amountCents, share: roundToCents(share), times: times ?? 0 },
  score: 0.5,
})

/** Smaller increases come from rounding and exchange rates. */
const LEAST_RISE = 0.01
const words = { week: 'weekly', month: 'monthly' } as const

const MOST_APART = `case every ${Object.entries(CHARGE_INTERVALS)
  .map(([every, { most }]) => `when '${every}' then ${most + 1}`)
  .join(' ')} end`

export const priceIncreasesSql = (from: string): string => `
select agent_id, value, last_day, last_cents, before_cents, (last_cents - before_cents) / before_cents::float8 as rise, times, every
from (
  select *, cardinality(days) as times, days[cardinality(days)] as last_day, cents[cardinality(days)] as last_cents,
    nullif(cents[cardinality(days) - 1], 0) as before_cents from runs
) as one
where broken_on is null and last_day >= ${from} and $5::date - last_day <= ${MOST_APART}
  and (last_cents - before_cents) / before_cents::float8 >= ${LEAST_RISE}`

export function describePriceIncrease(of: AnomalyCandidate): AnomalyText {
  const { merchant, every, amountCents, measure: rise, times } = of
  const usualCents = of.usualCents ?? NO_CENTS
  return {
    sentence: `The ${words[every ?? 'month']} charge of ${merchant} has risen from ${formatAmountText(usualCents)} to ${formatAmountText(amountCents)}, by ${formatPercent(rise)}.`,
    figures: { amountCents, usualCents, share: roundToCents(rise), times: times ?? 0 },
    score: anomalyScore(rise, LEAST_RISE * 5),
  }
}

const LEAST_SINGLE = 2

/**
 * SQL: days with several charges where there usually is one, each at the price of a single charge or of the
 * rhythm. The merchant may have charged twice.
 */
export const repeatedChargesSql = (from: string): string => `
with usual as materialized (
  select agent_id, value, round((${medianSql('spent')} filter (where payments = 1))::numeric) as price, array_agg(day) as days
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

export const describeRepeatedCharge = ({
  merchant,
  day,
  amountCents,
  usualCents,
  times,
}: AnomalyCandidate): AnomalyText => ({
  sentence: `${merchant} charged ${formatAmountText(usualCents ?? NO_CENTS)} ${times} times on ${day}; it usually charges once a day.`,
  figures: { amountCents, usualCents: usualCents ?? NO_CENTS, times: times ?? 0 },
  score: 0.9,
})

/** On earlier days of a month, one payment would decide the projection. */
const LEAST_ELAPSED = 5

const partsOf = (day: string): number[] => day.split('-').map(Number)

const daysInMonth = (day: string): number => {
  const [year = 0, month = 0] = partsOf(day)
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

export function canProjectPace(lastDay: string): boolean {
  const elapsed = Number(lastDay.slice(8))
  return elapsed >= LEAST_ELAPSED && elapsed < daysInMonth(lastDay)
}

const ELAPSED = 'extract(day from $5::date - 1)'
const IN_MONTH = "extract(day from date_trunc('month', $5::date - 1) + interval '1 month' - interval '1 day')"

const SHARED = `
union all
select '', (select sum(spent) from months where agent_id <> ''), monthly_limit_cents from owner_budgets
where owner_id = $1 and mode = $2`

/**
 * SQL: agents whose monthly limit is used up before the month ends if spending continues at the present pace;
 * without an agent in the scope, also the budget that all share. `lines` has the days of the month. The owner
 * is $1, the mode $2, the day after the last one $5.
 */
export const projectedOverspendSql = (isOfOneAgent: boolean): string => `
with months as materialized (select agent_id, sum(spent_cents - refunded_cents) as spent from lines group by 1),
limits (agent_id, spent, limit_cents) as (
  select agent_id, spent, monthly_limit_cents from months join policies using (agent_id)
  where owner_id = $1 and mode = $2 and deleted_at is null ${isOfOneAgent ? '' : SHARED}
),
paces as (
  select *, spent * ${IN_MONTH} / (${ELAPSED} * limit_cents)::float8 as pace from limits where limit_cents > 0 and spent > 0
)
select agent_id, null::text, $5::date - 1, spent, limit_cents, pace, null::int, null::text from paces where pace > 1`

export function describeProjectedOverspend({
  agentId,
  day,
  amountCents,
  usualCents,
  measure: pace,
}: AnomalyCandidate): AnomalyText {
  const [elapsed, all] = [Number(day.slice(8)), daysInMonth(day)]
  const limitCents = usualCents ?? NO_CENTS
  const usedUpOn = Math.min(all, Math.ceil(all / pace - 1e-9))
  const limit = agentId
    ? formatAmountText(limitCents)
    : `the ${formatAmountText(limitCents)} that all agents share`
  const when = usedUpOn <= elapsed ? 'is used up' : `lasts until day ${usedUpOn} at this pace`
  return {
    sentence: `${formatAmountText(amountCents)} of ${limit} this month was spent by day ${elapsed} of ${all}: the budget ${when}.`,
    figures: { amountCents, limitCents, share: roundToCents(pace) },
    score: anomalyScore(pace, 1),
  }
}
