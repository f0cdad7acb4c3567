import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, put } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'

const limit = (description: string) => moneySchema.nullable().meta({ description })

const limits = {
  dailyLimitCents: limit('The most in one day, by UTC. Null: no limit.'),
  monthlyLimitCents: limit('The most in one calendar month, by UTC. Null: no limit.'),
}

const use = (description: string) =>
  z
    .object({
      heldCents: moneySchema.meta({ description: 'Held for approved intents.' }),
      spentCents: moneySchema,
      remainingCents: moneySchema.nullable().meta({ description: 'Null if there is no limit.' }),
    })
    .nullable()
    .meta({ description })

const OwnerBudgetRecord = z
  .object({
    ...limits,
    day: use('The use of today, by UTC; null if no limit is set.'),
    month: use('The use of this calendar month, by UTC; null if no limit is set.'),
    updatedAt: instant.nullable().meta({ description: 'Null if no limit is set.' }),
  })
  .meta({ id: 'OwnerBudget' })

export const budgetApi = {
  budget: get('/budget', {
    readsClock: true,
    summary: 'Get the budget that all agents share',
    callers: ['key'],
    scope: 'policies:read',
    returns: [200, OwnerBudgetRecord],
  }),
  setBudget: put('/budget', {
    summary: 'Set the budget that all agents share',
    description:
      'The budget limits all your agents in this mode together, beside the policy of each. An intent is denied if its amount and what is held and spent in the day, or in the month, are above the limit.\n\nEverything since the beginning of the day and of the month counts, also what was spent before the budget was set. A limit that is left out is removed.',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({
      dailyLimitCents: limits.dailyLimitCents.default(null),
      monthlyLimitCents: limits.monthlyLimitCents.default(null),
    }),
    example: { dailyLimitEuros: 5_000, monthlyLimitEuros: 50_000 },
    returns: [200, OwnerBudgetRecord],
    emits: {
      'budget.updated': declareEvent(
        'The budget that all agents share has changed.',
        z.object({ ownerId: id('customer'), ...limits }),
      ),
    },
  }),
}
