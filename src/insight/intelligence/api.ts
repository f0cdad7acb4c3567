import { z } from 'zod'
import { get, notFound } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import {
  groupLimitSchema,
  reportAccess,
  reportQuery,
  reportSpanMembers,
  spendFigureMembers,
} from '../reports/index.ts'

const day = z.string().meta({ examples: ['2026-11-01'] })

const Refused = z.object({
  count: z.int().min(0),
  amountCents: moneySchema,
})

const PriceChange = z.object({
  agentId: id('agent').nullable().meta({ description: 'The agent that paid. Null if the owner paid.' }),
  every: z.enum(['week', 'month']),
  on: day,
  fromCents: moneySchema,
  toCents: moneySchema,
  change: z.number().nullable().meta({ description: 'Change relative to the previous price.' }),
})

const OfAgent = z.object({
  agentId: id('agent').nullable().meta({ description: 'The agent that paid. Null if the owner paid.' }),
  name: z.string().nullable(),
  ...spendFigureMembers,
  refused: Refused,
})

export const MerchantProfile = z
  .object({
    ...reportSpanMembers,
    key: z.string().meta({ examples: ['bookshop'] }),
    name: z.string().meta({ examples: ['Bookshop'] }),
    mcc: z
      .string()
      .nullable()
      .meta({ examples: ['5942'] }),
    category: z
      .string()
      .nullable()
      .meta({ examples: ['Bookshops'] }),
    confidence: z.number().meta({
      description: 'The confidence in name and category, as in `GET /merchants/resolve`.',
      examples: [0.5],
    }),
    names: z
      .array(z.string())
      .meta({ description: 'The merchant’s spellings in payments, up to a hundred.' }),
    firstSeenOn: day.meta({ description: 'The first payment or refusal ever, up to `to`.' }),
    lastSeenOn: day.meta({ description: 'The last payment or refusal up to `to`.' }),
    ...spendFigureMembers,
    refused: Refused.meta({
      description: 'Intents denied by a policy or a person, and declined card payments.',
    }),
    disputed: z
      .object({
        count: z.int().min(0),
        amountCents: moneySchema,
        creditedCents: moneySchema.meta({ description: 'The credited amount.' }),
      })
      .meta({ description: 'Disputes opened in these days.' }),
    priceChanges: z.array(PriceChange).meta({
      description:
        'Price changes of weekly or monthly charges in the 400 days up to `to`, newest first, at most 50.',
    }),
    agents: z.array(OfAgent).meta({ description: 'Agents that paid it, the highest net spend first.' }),
    otherAgents: z.int().min(0).meta({ description: 'The number of agents beyond `limit`.' }),
  })
  .meta({ id: 'MerchantProfile' })

export const intelligenceApi = {
  merchant: get('/merchants/{key}', {
    ...reportAccess,
    summary: 'Get the profile of a merchant',
    description:
      'Payments, refusals, refunds and disputes in these days, price changes, and the paying agents. `key` is from `GET /analytics/merchants`, or any text that `GET /merchants/resolve` resolves to the merchant. An agent token sees its own share.',
    query: reportQuery({ agentId: id('agent').optional(), limit: groupLimitSchema }),
    returns: [200, MerchantProfile],
    fails: { ...reportAccess.fails, merchant_not_found: notFound('merchant') },
  }),
}
