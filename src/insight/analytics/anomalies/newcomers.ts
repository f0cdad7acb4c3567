import { inEuros, inPercent, rounded, scoreOf } from './anomaly.ts'
import type { Candidate, Telling } from './candidates.ts'

/** A share of what an agent spends from which on a new merchant is told of. */
const LARGE_SHARE = 0.2

/** SQL: merchants that an agent pays for the first time since `from`, and that get a large part of what it spends. */
export const newMerchants = (from: string): string => `
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

export const newTold = ({ merchant, day, amountEuros, measure: share }: Candidate): Telling => ({
  sentence: `${merchant} was never paid before ${day}, and has got ${inEuros(amountEuros)} since: ${inPercent(share)} of what was spent.`,
  figures: { amountEuros, share: rounded(share) },
  score: scoreOf(share, LARGE_SHARE),
})

/** From so much in runs on, what is outside of them is told of. */
const MOSTLY_IN_RUNS = 0.5

/** SQL: what agents have spent outside of any run, although they mostly spend within them. */
export const OUTSIDE_OF_RUNS = `
with sums as (
  select agent_id, sum(spent_cents) as whole, coalesce(sum(spent_cents) filter (where run_id = ''), 0) as outside,
    sum(payments) filter (where run_id = '') as payments
  from lines group by 1
)
select agent_id, null::text, $5::date - 1, outside, null::numeric, outside / whole::float8, payments, null::text
from sums where outside > 0 and whole > 0 and 1 - outside / whole::float8 >= ${MOSTLY_IN_RUNS}`

export const outsideTold = ({ amountEuros, measure: share, times }: Candidate): Telling => ({
  sentence: `${inEuros(amountEuros)} were spent outside of any run, ${inPercent(share)} of all; the rest belongs to runs.`,
  figures: { amountEuros, share: rounded(share), times: times ?? 0 },
  score: 0.5,
})
