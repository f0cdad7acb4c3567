import { inEuros, rounded, scoreOf } from './anomaly.ts'
import type { Candidate, Telling } from './candidates.ts'

/** Before, a single payment says too little about the month. */
const LEAST_DAYS = 5

const partsOf = (day: string): number[] => day.split('-').map(Number)

const daysInMonth = (day: string): number => {
  const [year = 0, month = 0] = partsOf(day)
  return new Date(Date.UTC(year, month, 0)).getUTCDate()
}

/** Whether the month of the last day is old enough, and not over. */
export function isPaceKnown(lastDay: string): boolean {
  const elapsed = Number(lastDay.slice(8))
  return elapsed >= LEAST_DAYS && elapsed < daysInMonth(lastDay)
}

const ELAPSED = 'extract(day from $5::date - 1)'
const IN_MONTH = "extract(day from date_trunc('month', $5::date - 1) + interval '1 month' - interval '1 day')"

/** The budget that all agents share: the sum of theirs, of no agent by itself. */
const SHARED = `
union all
select '', (select sum(spent) from months where agent_id <> ''), monthly_limit_cents from owner_budgets
where owner_id = $1 and mode = $2`

/**
 * SQL: agents whose monthly limit is used up before the month ends, if it goes on as so far, and unless one agent is meant, the
 * budget that all of them share. `lines` has the days of the month. The owner is $1, the mode $2, the day after the last one $5.
 */
export const atThisPace = (isOfOneAgent: boolean): string => `
with months as materialized (select agent_id, sum(spent_cents - refunded_cents) as spent from lines group by 1),
limits (agent_id, spent, limit_cents) as (
  select agent_id, spent, monthly_limit_cents from months join policies using (agent_id)
  where owner_id = $1 and mode = $2 and deleted_at is null ${isOfOneAgent ? '' : SHARED}
),
paces as (
  select *, spent * ${IN_MONTH} / (${ELAPSED} * limit_cents)::float8 as pace from limits where limit_cents > 0 and spent > 0
)
select agent_id, null::text, $5::date - 1, spent, limit_cents, pace, null::int, null::text from paces where pace > 1`

export function paceTold({ agentId, day, amountEuros, usualEuros, measure: pace }: Candidate): Telling {
  const [elapsed, all] = [Number(day.slice(8)), daysInMonth(day)]
  const limitEuros = usualEuros ?? 0n
  const usedUpOn = Math.min(all, Math.ceil(all / pace - 1e-9))
  const limit = agentId ? inEuros(limitEuros) : `the ${inEuros(limitEuros)} that all agents share`
  const when = usedUpOn <= elapsed ? 'is used up' : `lasts until day ${usedUpOn} at this pace`
  return {
    sentence: `${inEuros(amountEuros)} of ${limit} for the month were spent by day ${elapsed} of ${all}: the budget ${when}.`,
    figures: { amountEuros, limitEuros, share: rounded(pace) },
    score: scoreOf(pace, 1),
  }
}
