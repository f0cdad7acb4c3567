import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { get, put } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'

const limit = (description: string) => euros.nullable().meta({ description })

const limits = {
  dailyLimitEuros: limit('The most in a day of UTC. Null: no limit.'),
  monthlyLimitEuros: limit('The most in a calendar month of UTC. Null: no limit.'),
}

const use = (description: string) =>
  z
    .object({
      heldEuros: euros.meta({ description: 'Kept for intents that have been approved.' }),
      spentEuros: euros,
      remainingEuros: euros.nullable().meta({ description: 'Null where there is no limit.' }),
    })
    .nullable()
    .meta({ description })

const OwnerBudgetRecord = z
  .object({
    ...limits,
    day: use('Of today, by UTC; null where no limit is set.'),
    month: use('Of this calendar month, by UTC; null where no limit is set.'),
    updatedAt: instant.nullable().meta({ description: 'Null where no limit is set.' }),
  })
  .meta({ id: 'OwnerBudget' })

export const budgetApi = {
  budget: get('/budget', {
    summary: 'What all agents together may spend, and have spent',
    callers: ['key'],
    scope: 'policies:read',
    returns: [200, OwnerBudgetRecord],
  }),
  setBudget: put('/budget', {
    summary: 'Set what all agents together may spend',
    description:
      'For all your agents in this mode, on top of what the policy of each allows: held and spent in the day, and in the month, plus an amount above the limit is denied. What they have spent and hold already counts from the beginning of the day and of the month, whenever it is set. What is left out has no limit.',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({
      dailyLimitEuros: limits.dailyLimitEuros.default(null),
      monthlyLimitEuros: limits.monthlyLimitEuros.default(null),
    }),
    example: { dailyLimitEuros: 5_000, monthlyLimitEuros: 50_000 },
    returns: [200, OwnerBudgetRecord],
    emits: {
      'budget.updated': event(
        'What all agents together may spend in a day or a month has changed.',
        z.object({ ownerId: id('customer'), ...limits }),
      ),
    },
  }),
}
