import { findAgent } from '../../control/agents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Personal } from '../../values/personal.ts'
import { forecastApi } from './api.ts'
import { watchApi, watchBudget, watchesDue, watchFromPolicies } from './budget-watch.ts'
import { forecastOf } from './build-forecast.ts'

const forecastPersonal = {
  budget_watches: { personal: {}, plain: ['told_month'] },
} as const satisfies Personal

const forecast = implement(
  { ...forecastApi, ...watchApi },
  {
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

    watchBudget,
  },
)

export const forecastArea = area(
  'Forecast',
  'Forecasts of spending, and depletion dates of budgets and wallets.',
  forecast,
  {
    personal: forecastPersonal,
    deadlines: [watchesDue],
    reactions: { 'policy.assigned': watchFromPolicies, 'policy.updated': watchFromPolicies },
  },
)
