import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { post } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'

const day = z.string()

const BudgetAtRisk = z.object({
  agentId: id('agent'),
  month: z.string().meta({ description: 'By UTC.', examples: ['2026-11'] }),
  limitEuros: euros,
  spentEuros: euros.meta({ description: 'Of this month so far; what is held is not in it.' }),
  heldEuros: euros.meta({ description: 'Held for approved intents; it counts as used.' }),
  runsOutOn: day.meta({
    description: 'The p50 of the forecast: in half of the cases it is used up by then.',
  }),
  p10: day.meta({ description: 'In one of ten cases it is used up by then.' }),
  p90: day.nullable().meta({ description: 'In nine of ten cases; null: not in this month.' }),
})

export const watchApi = {
  watchBudget: post('/forecast/agents/{id}/watch-budget', {
    summary: 'Hold the forecast of an agent against its monthly limit',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    emits: {
      'budget.at_risk': event(
        'An agent is likely to use up its monthly limit before the month ends. It is sent once a month.',
        BudgetAtRisk,
      ),
    },
  }),
}
