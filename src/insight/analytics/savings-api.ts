import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { money, signedMoney } from '../../values/money.ts'
import { answerSpan, bound, ofSpan, reading } from '../reports/index.ts'
import { savingsGroupings, waysKeptBack } from './savings.ts'

const sum = { count: z.int().min(0), amountCents: money }

const ofAgents = {
  keptBack: z.object(sum),
  refundedCents: signedMoney,
  disputesWon: z.object(sum),
  totalCents: signedMoney,
}

export const SavingsRecord = z
  .object({
    ...answerSpan,
    groupBy: z.enum(savingsGroupings),
    keptBack: z.object({
      ...sum,
      rules: z.array(
        z.object({
          how: z.enum(waysKeptBack).meta({
            description:
              '`denied` by the policy, `turned_down` by a person, a payment by card `declined`, or `expired` while nobody decided.',
          }),
          rule: z.string().meta({
            description:
              'The rule that said so, or that asked for a person; `other`: something else than a rule.',
            examples: ['dailyLimitEuros'],
          }),
          ...sum,
        }),
      ),
    }),
    refundedCents: signedMoney.meta({ description: 'What has come back in these days.' }),
    disputesWon: z.object(sum).meta({
      description: 'Disputes that ended for you in these days, with what they gave back beside refunds.',
    }),
    totalCents: signedMoney.meta({
      description: 'All of these: each refusal, refund and dispute is in it once.',
    }),
    agents: z
      .array(
        z.object({
          agentId: id('agent')
            .nullable()
            .meta({ description: 'Null: what the owner has paid without an agent.' }),
          name: z.string().nullable(),
          ...ofAgents,
        }),
      )
      .nullable()
      .meta({
        description:
          'With `groupBy=agent`, the same by agent, the most first; with `other` they are the whole.',
      }),
    other: z
      .object({ agents: z.int(), ...ofAgents })
      .nullable()
      .meta({ description: 'All other agents together.' }),
  })
  .meta({ id: 'SavingsReport' })

const query = ofSpan({
  groupBy: z.enum(savingsGroupings).default('rule'),
  agentId: id('agent').optional(),
  limit: bound,
})

export const savingsApi = {
  savings: get('/analytics/savings', {
    ...reading,
    summary: 'What was kept back, and got back',
    description:
      'What policies and persons have prevented, by rule, on the day on which they did. A refusal is no proof of money saved: what was declared again, and was allowed, is in the costs too.',
    query,
    returns: [200, SavingsRecord],
  }),
  savingsTable: get('/analytics/savings/csv', {
    ...reading,
    summary: 'What was kept back, and got back, as a table',
    description:
      'RFC 4180 in UTF-8: a line for each rule, one for refunds, and one for disputes that were won; with `groupBy=agent`, the last two and one for what was kept back of each agent.',
    query,
    returns: [200, file('text/csv')],
  }),
}
