import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'
import { inDigits, wholeNumber } from '../../kernel/contract/page.ts'
import { id } from '../../values/ids.ts'
import { money, signedMoney } from '../../values/money.ts'
import { answerSpan, figureMembers, ofSpan, reading, share } from '../reports/index.ts'
import { costPeriods } from './costs.ts'

const members = {
  ...figureMembers,
  feesCents: money.meta({ description: 'What of `spentEuros` were fees.' }),
  deniedCount: z.int().min(0).meta({
    description:
      'How many intents a policy or a person has denied, and payments by card the rules have declined.',
  }),
  deniedCents: money.meta({ description: 'What those would have cost.' }),
}

const Line = z.object({
  ...members,
  share,
  netBeforeCents: signedMoney.meta({
    description: 'The net spend of the span of the same length right before.',
  }),
  change: z
    .number()
    .nullable()
    .meta({
      description:
        'By how much the net spend differs from that, as a share of it; null where that is not above nothing.',
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
      description: 'Only those in which something was; the first and the last one may be cut by the span.',
    }),
})

export const CostsRecord = z
  .object({
    ...answerSpan,
    groupBy: z.enum(costPeriods),
    total: Line,
    data: z
      .array(
        Line.extend({
          agentId: id('agent')
            .nullable()
            .meta({ description: 'Null: what the owner has paid without an agent.' }),
          name: z.string().nullable(),
        }),
      )
      .meta({ description: 'The agents with the highest net spend first, also those that are deleted.' }),
    other: Line.extend({ agents: z.int().meta({ description: 'How many.' }) })
      .nullable()
      .meta({ description: 'All other agents together; null where there are none.' }),
  })
  .meta({ id: 'CostReport' })

const query = ofSpan({
  groupBy: z.enum(costPeriods).default('day'),
  agentId: id('agent').optional().meta({ description: 'Only this agent; an agent’s own token implies it.' }),
  limit: inDigits(wholeNumber(1, 100).default(20)).meta({
    description: 'How many agents are told one by one: as many as fit into 5,000 lines.',
  }),
})

export const costsApi = {
  costs: get('/analytics/agents/costs', {
    ...reading,
    summary: 'What each agent costs',
    description:
      'Per agent and day, week or month. Exact as of the answer: a payment that was made a moment ago is in it. `total` is the sum of all agents and of `other`.',
    query,
    returns: [200, CostsRecord],
  }),
  costsTable: get('/analytics/agents/costs/csv', {
    ...reading,
    summary: 'What each agent costs, as a table',
    description: 'RFC 4180 in UTF-8: a line for each agent and period, amounts with a dot and two decimals.',
    query,
    returns: [200, file('text/csv')],
  }),
}
