import { z } from 'zod'
import { fileSchema } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { moneySchema, signedMoneySchema } from '../../values/money.ts'
import { groupLimitSchema, reportAccess, reportQuery, reportSpanMembers } from '../reports/index.ts'
import { preventedSpendKinds, savingsGroupings } from './savings.ts'

const sum = { count: z.int().min(0), amountCents: moneySchema }

const ofAgents = {
  keptBack: z.object(sum),
  refundedCents: signedMoneySchema,
  disputesWon: z.object(sum),
  totalCents: signedMoneySchema,
}

export const SavingsRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.enum(savingsGroupings),
    keptBack: z.object({
      ...sum,
      rules: z.array(
        z.object({
          how: z.enum(preventedSpendKinds).meta({
            description:
              '`denied` by the policy, `turned_down` by a person, `declined` card payment, or `expired` without a decision.',
          }),
          rule: z.string().meta({
            description: 'The rule that refused it or required approval; `other` without a rule.',
            examples: ['dailyLimitEuros'],
          }),
          ...sum,
        }),
      ),
    }),
    refundedCents: signedMoneySchema.meta({ description: 'Refunds that arrived in these days.' }),
    disputesWon: z.object(sum).meta({
      description: 'Disputes won in these days, with their credits beside refunds.',
    }),
    totalCents: signedMoneySchema.meta({
      description: 'The sum; each refusal, refund and dispute counts once.',
    }),
    agents: z
      .array(
        z.object({
          agentId: id('agent')
            .nullable()
            .meta({ description: 'Null for payments of the owner without an agent.' }),
          name: z.string().nullable(),
          ...ofAgents,
        }),
      )
      .nullable()
      .meta({
        description:
          'With `groupBy=agent`: by agent, the largest first; with `other` they add up to the total.',
      }),
    other: z
      .object({ agents: z.int(), ...ofAgents })
      .nullable()
      .meta({ description: 'All other agents together.' }),
  })
  .meta({ id: 'SavingsReport' })

const query = reportQuery({
  groupBy: z.enum(savingsGroupings).default('rule'),
  agentId: id('agent').optional(),
  limit: groupLimitSchema,
})

export const savingsApi = {
  savings: get('/analytics/savings', {
    ...reportAccess,
    summary: 'Report savings',
    description:
      'Payments prevented by policies and people, by rule, on the day of the refusal, and money returned by refunds and disputes. A refusal does not prove a saving: a payment that was declared again and approved is in the costs, too.',
    query,
    returns: [200, SavingsRecord],
  }),
  savingsTable: get('/analytics/savings/csv', {
    ...reportAccess,
    summary: 'Download savings as CSV',
    description:
      'RFC 4180 in UTF-8: a line for each rule, one for refunds, and one for won disputes; with `groupBy=agent`, the last two and one for prevented payments of each agent.',
    query,
    returns: [200, fileSchema('text/csv')],
  }),
}
