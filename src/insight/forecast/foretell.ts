import type { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { addDays, dayOf } from '../reports/index.ts'
import { spendByDay } from '../spend/index.ts'
import { knownAhead } from './known.ts'
import { HISTORY_DAYS, pastOf } from './past.ts'
import { shownForecast } from './response.ts'
import { leftOfAgent, leftOfOwner } from './what-is-left.ts'

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

/** The forecast of an agent, or of the whole tenant. */
export async function forecastOf(agent: Agent | null, days: number, context: Asking) {
  const { sql, tenant, now } = context
  const today = dayOf(now)
  const span = { from: addDays(today, -HISTORY_DAYS), before: addDays(today, 1) }
  const [spent, known, left] = await Promise.all([
    spendByDay(sql, tenant, { ...span, agentId: agent?.id }),
    knownAhead(sql, context, agent?.id),
    agent ? leftOfAgent(agent, context) : leftOfOwner(context),
  ])
  const seed = [tenant.ownerId, tenant.mode, agent?.id ?? '', today].join(' ')
  return shownForecast(pastOf(spent, today), { agent, days, known, left, seed })
}
