import { z } from 'zod'
import { get } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, signedMoneySchema } from '../../values/money.ts'
import {
  reportAccess,
  reportQuery,
  reportSpanMembers,
  shareSchema,
  spendFigureMembers,
} from '../reports/index.ts'
import { costPeriods } from './costs.ts'

const members = {
  ...spendFigureMembers,
  feesCents: moneySchema.meta({ description: 'Fees included in `spentEuros`.' }),
  deniedCount: z.int().min(0).meta({
    description: 'The number of intents denied by a policy or a person, and of declined card payments.',
  }),
  deniedCents: moneySchema.meta({ description: 'Amount of these intents and payments.' }),
}

const Line = z.object({
  ...members,
  share: shareSchema,
  netBeforeCents: signedMoneySchema.meta({
    description: 'The net spend of the previous period of the same length.',
  }),
  change: z
    .number()
    .nullable()
    .meta({
      description: 'Change of the net spend relative to that. Null unless that is positive.',
      examples: [-0.125],
    }),
  periods: z
    .array(
      z.object({
        from: z.string().meta({
          description: 'The first day of the day, week (Monday) or month.',
          examples: ['2026-11-01'],
        }),
        ...members,
      }),
    )
    .meta({
      description: 'Periods without payments are left out; the first and the last one may be incomplete.',
    }),
})

export const CostsRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.enum(costPeriods),
    total: Line,
    data: z
      .array(
        Line.extend({
          agentId: id('agent')
            .nullable()
            .meta({ description: 'Null for payments of the owner without an agent.' }),
          name: z.string().nullable(),
        }),
      )
      .meta({ description: 'The highest net spend first, including deleted agents.' }),
    other: Line.extend({ agents: z.int().meta({ description: 'Number of these agents.' }) })
      .nullable()
      .meta({ description: 'All other agents together. Null if there are none.' }),
  })
  .meta({ id: 'CostReport' })

const query = reportQuery({
  groupBy: z.enum(costPeriods).default('day'),
  agentId: id('agent').optional().meta({ description: 'Only this agent; an agent’s own token implies it.' }),
  limit: digitsAsNumber(integerSchema(1, 100).default(20)).meta({
    description: 'The number of listed agents, up to 5,000 lines in all.',
  }),
})

export const costsApi = {
  costs: get('/analytics/agents/costs', {
    ...reportAccess,
    summary: 'Report costs by agent',
    description:
      'By agent and day, week or month. Exact as of the answer, including the latest payments. `total` is the sum of all agents and `other`.',
    query,
    csv: 'a line for each agent and period, amounts with a dot and two decimals',
    returns: [200, CostsRecord],
  }),
}
