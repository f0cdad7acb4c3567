import { z } from 'zod'
import { get, missing } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { money } from '../../values/money.ts'
import { answerSpan, bound, figureMembers, ofSpan, reading } from '../reports/index.ts'

const day = z.string().meta({ examples: ['2026-11-01'] })

const Refused = z.object({
  count: z.int().min(0),
  amountCents: money,
})

const PriceChange = z.object({
  agentId: id('agent').nullable().meta({ description: 'Null if the owner paid.' }),
  every: z.enum(['week', 'month']),
  on: day,
  fromCents: money,
  toCents: money,
  change: z.number().nullable().meta({ description: 'As a share of what it cost before.' }),
})

const OfAgent = z.object({
  agentId: id('agent').nullable().meta({ description: 'Null if the owner paid.' }),
  name: z.string().nullable(),
  ...figureMembers,
  refused: Refused,
})

export const MerchantProfile = z
  .object({
    ...answerSpan,
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
      description: 'How sure name and category are, as `GET /merchants/resolve` has it.',
      examples: [0.5],
    }),
    names: z.array(z.string()).meta({ description: 'How payments name it: up to a hundred texts.' }),
    firstSeenOn: day.meta({ description: 'The first payment or refusal ever, up to `to`.' }),
    lastSeenOn: day.meta({ description: 'The last one up to `to`.' }),
    ...figureMembers,
    refused: Refused.meta({
      description: 'What a policy or a person has denied, and payments by card that were declined.',
    }),
    disputed: z
      .object({
        count: z.int().min(0),
        amountCents: money,
        creditedCents: money.meta({ description: 'What of it is credited.' }),
      })
      .meta({ description: 'Disputes that were opened in the days.' }),
    priceChanges: z.array(PriceChange).meta({
      description:
        'Where a weekly or monthly charge has changed in the 400 days up to `to`, the newest first, at most 50.',
    }),
    agents: z.array(OfAgent).meta({ description: 'Who has paid it, the highest net spend first.' }),
    otherAgents: z.int().min(0).meta({ description: 'How many agents are beyond `limit`.' }),
  })
  .meta({ id: 'MerchantProfile' })

export const intelligenceApi = {
  merchant: get('/merchants/{key}', {
    ...reading,
    summary: 'What is known of a merchant',
    description:
      'What was paid, refused, refunded and disputed in the days, price changes, and by which agents. `key` is that of `GET /analytics/merchants`, or any text that `GET /merchants/resolve` resolves to the same merchant. An agent’s token sees its own share.',
    query: ofSpan({ agentId: id('agent').optional(), limit: bound }),
    returns: [200, MerchantProfile],
    fails: { ...reading.fails, merchant_not_found: missing('merchant') },
  }),
}
