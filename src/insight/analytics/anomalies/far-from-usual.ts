import { deviationInSql, MAX_DEVIATIONS, medianInSql } from '../../../control/risk/index.ts'
import { inEuros, rounded, scoreOf } from './anomaly.ts'
import type { Candidate, Telling } from './candidates.ts'

/** What is usual is what was so in these days before the last one. */
export const USUAL_DAYS = 182
/** Fewer days say nothing about what is usual. */
const LEAST_DAYS = { day_above_usual: 14, merchant_above_usual: 8 } as const
type Kind = keyof typeof LEAST_DAYS

/**
 * SQL: the days since `from` that lie far above the others on which a series of `days` has cost something. Each series keeps its
 * days beside what is usual of it: PostgreSQL cannot know how many there are, and would join them one by one.
 */
export const farDays = (kind: Kind, days: string, from: string): string => `
with series as materialized (
  select agent_id, value, ${medianInSql('spent')} as usual, array_agg(day) as days, array_agg(spent) as sums
  from ${days} where spent > 0 and day >= least($5::date - ${USUAL_DAYS}, ${from})
  group by 1, 2 having count(*) >= ${LEAST_DAYS[kind]}
),
measured as materialized (
  select *, (select ${deviationInSql('spent', 'usual')} from unnest(sums) as spent) as deviation from series
)
select agent_id, ${kind === 'day_above_usual' ? 'null::text' : 'value'}, day, spent, round(usual::numeric),
  round(((spent - usual) / deviation)::numeric, 2), null::int, null::text
from measured cross join lateral unnest(days, sums) as one (day, spent)
where day >= ${from} and round(((spent - usual) / deviation)::numeric, 2) > ${MAX_DEVIATIONS}`

const sentences: Readonly<Record<Kind, (far: Candidate) => string>> = {
  /** A day on which an agent has spent far more than on its usual one. */
  day_above_usual: ({ amountEuros, day, usualEuros }) =>
    `${inEuros(amountEuros)} were spent on ${day}; on a usual day it is ${inEuros(usualEuros ?? 0n)}.`,
  /** A day on which an agent has paid a merchant far more than usual. */
  merchant_above_usual: ({ amountEuros, day, merchant, usualEuros }) =>
    `${merchant} got ${inEuros(amountEuros)} on ${day}; usually it is ${inEuros(usualEuros ?? 0n)} a day.`,
}

export const farTold =
  (kind: Kind) =>
  (far: Candidate): Telling => ({
    sentence: sentences[kind](far),
    figures: {
      amountEuros: far.amountEuros,
      usualEuros: far.usualEuros ?? 0n,
      deviations: rounded(far.measure),
    },
    score: scoreOf(far.measure, MAX_DEVIATIONS),
  })
