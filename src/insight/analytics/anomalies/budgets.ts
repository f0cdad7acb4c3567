import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type { Euros } from '../../../values/money.ts'
import type { SpendSum } from '../../spend/index.ts'
import { type Anomaly, inEuros, rounded, scoreOf } from './anomaly.ts'

const LIMITS = `
select agent_id as "agentId", monthly_limit_cents as "limitEuros" from policies
where owner_id = $1 and mode = $2 and agent_id is not null and deleted_at is null and monthly_limit_cents > 0`

/** The limits of a month that agents' policies set. */
export async function monthlyLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<ReadonlyMap<string, Euros>> {
  const rows = await sql<{ agentId: string; limitEuros: Euros } & Row>(LIMITS, [ownerId, mode])
  return new Map(rows.map(({ agentId, limitEuros }) => [agentId, limitEuros]))
}

/** Before, a single payment says too little about the month. */
const LEAST_DAYS = 5

const daysInMonth = (day: string): number =>
  new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate()

/** Budgets of the month of the last day that are used up before its end, if it goes on as so far. */
export function budgetsAtThisPace(
  byAgent: ReadonlyMap<string, readonly SpendSum[]>,
  limits: ReadonlyMap<string, Euros>,
  lastDay: string,
): Anomaly[] {
  const elapsed = Number(lastDay.slice(8))
  const all = daysInMonth(lastDay)
  if (elapsed < LEAST_DAYS || elapsed === all) return []
  return [...limits].flatMap(([agentId, limitEuros]) => {
    const month = (byAgent.get(agentId) ?? []).filter(({ day }) => day.slice(0, 7) === lastDay.slice(0, 7))
    const spentEuros = month.reduce((sum, one) => sum + one.spentEuros - one.refundedEuros, 0n)
    const expected = (Number(spentEuros) / elapsed) * all
    if (spentEuros <= 0n || expected <= Number(limitEuros)) return []
    const usedUpOn = Math.min(all, Math.ceil(Number(limitEuros) / (Number(spentEuros) / elapsed)))
    const when = usedUpOn <= elapsed ? 'is used up' : `lasts until day ${usedUpOn} at this pace`
    return {
      kind: 'budget_at_this_pace' as const,
      agentId,
      merchant: null,
      day: lastDay,
      sentence: `${inEuros(spentEuros)} of ${inEuros(limitEuros)} for the month were spent by day ${elapsed} of ${all}: the budget ${when}.`,
      figures: { amountEuros: spentEuros, limitEuros, share: rounded(expected / Number(limitEuros)) },
      score: scoreOf(expected, Number(limitEuros)),
    }
  })
}
