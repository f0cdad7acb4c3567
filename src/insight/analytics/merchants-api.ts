import { z } from 'zod'
import { get } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import {
  groupLimitSchema,
  reportAccess,
  reportQuery,
  reportSpanMembers,
  shareSchema,
  spendFigureMembers,
} from '../reports/index.ts'

const day = z.string().meta({ examples: ['2026-11-01'] })

const RhythmRecord = z.object({
  agentId: id('agent').nullable(),
  every: z.enum(['week', 'month']),
  since: day,
  last: day,
  next: day.meta({
    description:
      'Expected date of the next charge: its usual day of the month, or a week or thirty days later.',
  }),
  times: z.int(),
  firstCents: moneySchema,
  beforeCents: moneySchema.meta({ description: 'The previous price.' }),
  lastCents: moneySchema,
  change: z
    .number()
    .nullable()
    .meta({ description: 'Change from the first to the last price, as a share of the first.' }),
})

const Figures = z.object(spendFigureMembers)

export const MerchantsRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.enum(['merchant', 'mcc']),
    total: Figures,
    data: z
      .array(
        Figures.extend({
          key: z
            .string()
            .nullable()
            .meta({ description: 'The normalized merchant, or its category code; null without one.' }),
          names: z.array(z.string()).meta({
            description: 'The merchant’s spellings in payments, up to a hundred, in alphabetical order.',
          }),
          share: shareSchema,
          firstOn: day.nullable().meta({ description: 'The first payment up to `to`.' }),
          lastOn: day.nullable().meta({ description: 'The last payment up to `to`.' }),
          rhythm: RhythmRecord.nullable().meta({
            description:
              'The weekly or monthly rhythm of an agent’s payments, from the latest four, or three.',
          }),
        }),
      )
      .meta({ description: 'The highest net spend first.' }),
    other: Figures.extend({ groups: z.int() }).nullable().meta({ description: 'All others together.' }),
  })
  .meta({ id: 'MerchantReport' })

const query = reportQuery({
  groupBy: z.enum(['merchant', 'mcc']).default('merchant'),
  agentId: id('agent').optional(),
  limit: groupLimitSchema,
})

export const merchantReportsApi = {
  merchants: get('/analytics/merchants', {
    limits: { oneAtATime: true },
    ...reportAccess,
    summary: 'Report spending by merchant',
    description:
      'Spellings of a merchant are grouped as `GET /merchants/resolve` resolves them: `SQ *BOOKSHOP 1234 BERLIN` and `bookshop` are one. The spellings are in `names`. With `groupBy=mcc`, by category.',
    query,
    csv: 'a line for each merchant, and one for all others',
    returns: [200, MerchantsRecord],
  }),
}
