import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, put } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'

const limit = (description: string) => moneySchema.nullable().meta({ description })

const limits = {
  dailyLimitCents: limit('Maximum amount per UTC day. Null: no limit.'),
  monthlyLimitCents: limit('Maximum amount per calendar month (UTC). Null: no limit.'),
}

const use = (description: string) =>
  z
    .object({
      heldCents: moneySchema.meta({ description: 'Amount held for approved intents.' }),
      spentCents: moneySchema,
      remainingCents: moneySchema.nullable().meta({ description: 'Amount left. Null if there is no limit.' }),
    })
    .nullable()
    .meta({ description })

const OwnerBudgetRecord = z
  .object({
    ...limits,
    day: use('Usage today (UTC). Null if no limit is set.'),
    month: use('Usage this calendar month (UTC). Null if no limit is set.'),
    updatedAt: instant.nullable().meta({ description: 'Time of the last change. Null if no limit is set.' }),
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
      'The budget limits all your agents in this mode together, in addition to each agent’s policy. An intent is denied if its amount plus the amounts held and spent that day, or that month, exceeds the limit.\n\nSpending from before the budget was set counts, too. A limit that you leave out is removed.',
    callers: ['key'],
    scope: 'policies:write',
    body: z.strictObject({
      dailyLimitCents: limits.dailyLimitCents.default(null),
      monthlyLimitCents: limits.monthlyLimitCents.default(null),
      ...widening.members,
    }),
    example: { dailyLimitEuros: 5_000, monthlyLimitEuros: 50_000 },
    returns: [200, OwnerBudgetRecord],
    signature: widening.signature,
    fails: widening.fails,
    emits: {
      ...widening.emits,
      'budget.updated': declareEvent(
        'The budget that all agents share has changed.',
        z.object({ ownerId: id('customer'), ...limits }),
      ),
    },
  }),
}
