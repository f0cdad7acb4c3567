import { findAgent } from '../../control/agents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { forecastApi } from './api.ts'
import { buildForecast } from './build-forecast.ts'

const forecast = bindHandlers(forecastApi, {
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
})

export const forecastArea = area(
  'Forecast',
  'Forecasts of spending, and depletion dates of budgets and wallets.',
  forecast,
)
