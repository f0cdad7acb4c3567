import { findAgent } from '../../control/agents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { PersonalData } from '../../values/personal.ts'
import { forecastApi } from './api.ts'
import {
  budgetWatchApi,
  budgetWatchDeadline,
  watchBudget,
  watchBudgetOnPolicyChange,
} from './budget-watch.ts'
import { buildForecast } from './build-forecast.ts'

const forecastPersonal = {
  budget_watches: { personal: {}, plain: ['told_month'] },
} as const satisfies PersonalData

const forecast = bindHandlers(
  { ...forecastApi, ...budgetWatchApi },
  {
    async ofAgent({ params, query }, context) {
      const { actor, em, refuse } = context
      if (actor.delegationId)
        return refuse(
          'agent_not_found',
          'A delegation’s token can read only its own records, not the spending of its agent.',
        )
      const agent = await findAgent(em, params.id)
      return agent ? buildForecast(agent, query.days, context) : refuse('agent_not_found')
    },

    ofOwner: ({ query }, context) => buildForecast(null, query.days, context),

    watchBudget,
  },
)

export const forecastArea = area(
  'Forecast',
  'Forecasts of spending, and depletion dates of budgets and wallets.',
  forecast,
  {
    personal: forecastPersonal,
    deadlines: [budgetWatchDeadline],
    reactions: { 'policy.assigned': watchBudgetOnPolicyChange, 'policy.updated': watchBudgetOnPolicyChange },
  },
)
