import { type Agent, findAgent } from '../../control/agents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { addDays, dayOf } from '../reports/index.ts'
import { spendByDay } from '../spend/index.ts'
import { forecastApi } from './api.ts'
import { knownAhead } from './known.ts'
import { HISTORY_DAYS, pastOf } from './past.ts'
import { shownForecast } from './response.ts'
import { leftOfAgent, leftOfOwner } from './what-is-left.ts'

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

/** The forecast of an agent, or of the whole tenant. */
async function forecastOf(agent: Agent | null, days: number, context: Asking) {
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

const forecast = implement(forecastApi, {
  async ofAgent({ params, query }, context) {
    const { actor, records, refuse } = context
    if (actor.delegationId)
      return refuse(
        'agent_not_found',
        'A delegation’s token reaches what was made with it, not the spending of its agent.',
      )
    const agent = await findAgent(records, params.id)
    return agent ? forecastOf(agent, query.days, context) : refuse('agent_not_found')
  },

  ofOwner: ({ query }, context) => forecastOf(null, query.days, context),
})

export const forecastArea = area(
  'Forecast',
  'What agents will cost, and when a budget or a wallet is used up.',
  forecast,
)
