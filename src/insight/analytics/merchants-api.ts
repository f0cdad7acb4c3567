import { z } from 'zod'
import { file } from '../../kernel/contract/file.ts'
import { get } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { money } from '../../values/money.ts'
import { answerSpan, bound, figureMembers, ofSpan, reading, share } from '../reports/index.ts'

const day = z.string().meta({ examples: ['2026-11-01'] })

const RhythmRecord = z.object({
  agentId: id('agent').nullable(),
  every: z.enum(['week', 'month']),
  since: day,
  last: day,
  next: day.meta({
    description:
      'When the next one is to be expected: on the day of the month on which it mostly comes, or a week or thirty days later.',
  }),
  times: z.int(),
  firstCents: money,
  beforeCents: money.meta({ description: 'What the payment before the last one cost.' }),
  lastCents: money,
  change: z
    .number()
    .nullable()
    .meta({ description: 'By how much the last one differs from the first, as a share of it.' }),
})

const Figures = z.object(figureMembers)

export const MerchantsRecord = z
  .object({
    ...answerSpan,
    groupBy: z.enum(['merchant', 'mcc']),
    total: Figures,
    data: z
      .array(
        Figures.extend({
          key: z
            .string()
            .nullable()
            .meta({ description: 'The merchant, folded, or the code of its trade; null without one.' }),
          names: z.array(z.string()).meta({
            description:
              'How payments name the merchant: up to a hundred texts, in the order of the alphabet.',
          }),
          share,
          firstOn: day.nullable().meta({ description: 'The first payment ever, up to `to`.' }),
          lastOn: day.nullable().meta({ description: 'The last one up to `to`.' }),
          rhythm: RhythmRecord.nullable().meta({
            description:
              'Where an agent pays it every week or month: the latest four, or three, follow each other so.',
          }),
        }),
      )
      .meta({ description: 'The highest net spend first.' }),
    other: Figures.extend({ groups: z.int() }).nullable().meta({ description: 'All others together.' }),
  })
  .meta({ id: 'MerchantReport' })

const query = ofSpan({
  groupBy: z.enum(['merchant', 'mcc']).default('merchant'),
  agentId: id('agent').optional(),
  limit: bound,
})

export const merchantsApi = {
  merchants: get('/analytics/merchants', {
    limits: { oneAtATime: true },
    ...reading,
    summary: 'Who was paid most',
    description:
      'Merchants are grouped by what their texts mean, as `GET /merchants/resolve` resolves them: `SQ *BOOKSHOP 1234 BERLIN` and `bookshop` are one. The texts stay visible in `names`. With `groupBy=mcc`, by trade.',
    query,
    returns: [200, MerchantsRecord],
  }),
  merchantsTable: get('/analytics/merchants/csv', {
    limits: { oneAtATime: true },
    ...reading,
    summary: 'Who was paid most, as a table',
    description: 'RFC 4180 in UTF-8: a line for each merchant, and one for all others.',
    query,
    returns: [200, file('text/csv')],
  }),
}
