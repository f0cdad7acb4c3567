import type { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { dayOf } from '../../values/clock.ts'
import { readRuns } from '../analytics/index.ts'
import { addDays } from '../reports/index.ts'
import { spendByDay } from '../spend/index.ts'
import { approvedIntents, chargesAhead } from './known.ts'
import { MOST_DAYS } from './outlook.ts'
import { HISTORY_DAYS, pastOf } from './past.ts'
import { shownForecast } from './response.ts'
import { leftOfAgent, leftOfOwner } from './what-is-left.ts'

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

/** More subscriptions are not followed: those that cost most are. */
const MOST_SUBSCRIPTIONS = 50

/** The forecast of an agent, or of the whole tenant. */
export async function forecastOf(agent: Agent | null, days: number, context: Asking) {
  const { sql, tenant, now } = context
  const today = dayOf(now)
  const span = { from: addDays(today, -HISTORY_DAYS), before: addDays(today, 1), agentId: agent?.id }
  const [spent, found, approved, left] = await Promise.all([
    spendByDay(sql, tenant, span),
    readRuns(sql, tenant, span),
    approvedIntents(sql, context, agent?.id),
    agent ? leftOfAgent(agent, context) : leftOfOwner(context),
  ])
  const runs = found.slice(0, MOST_SUBSCRIPTIONS)
  const past = pastOf(spent, today, runs)
  const charges = chargesAhead(past.spend, runs, { most: MOST_DAYS, days })
  const seed = [tenant.ownerId, tenant.mode, agent?.id ?? '', today].join(' ')
  return shownForecast(past, { agent, days, approved, charges, left, seed })
}
