import { z } from 'zod'
import { file } from '../../../kernel/contract/file.ts'
import { get } from '../../../kernel/contract/operation.ts'
import { id } from '../../../values/ids.ts'
import { money, signedMoney } from '../../../values/money.ts'
import { answerSpan, bound, ofSpan, reading } from '../../reports/index.ts'
import { anomalyGroupings, anomalyKinds } from './anomaly.ts'

const AnomalyRecord = z.object({
  kind: z.enum(anomalyKinds),
  agentId: id('agent')
    .nullable()
    .meta({ description: 'Null: what the owner has paid, or the budget that all agents share.' }),
  name: z.string().nullable().meta({ description: 'The name of the agent.' }),
  merchant: z.string().nullable(),
  day: z.string().meta({ examples: ['2026-11-14'] }),
  sentence: z
    .string()
    .meta({ examples: ['€ 840.00 were spent on 2026-11-14; on a usual day it is € 52.40.'] }),
  figures: z
    .object({
      amountCents: signedMoney,
      usualCents: money.optional(),
      limitCents: money.optional(),
      share: z.number().optional(),
      deviations: z.number().optional(),
      times: z.int().optional(),
    })
    .meta({ description: 'What the sentence rests on.' }),
  score: z.number().meta({ description: 'How unusual: from 0.5, just so, up to 1.', examples: [0.82] }),
})

export const AnomaliesRecord = z
  .object({
    ...answerSpan,
    groupBy: z.enum(anomalyGroupings),
    data: z.array(AnomalyRecord).meta({ description: 'The most unusual first.' }),
    groups: z
      .array(
        z.object({
          key: z.string().nullable().meta({ description: 'The kind, agent or merchant; null: without one.' }),
          name: z.string().nullable().meta({ description: 'The name of an agent.' }),
          count: z.int().min(1),
        }),
      )
      .meta({ description: 'How many of those in `data` are of each, the most first.' }),
    others: z.int().min(0).meta({ description: 'How many more there are.' }),
  })
  .meta({ id: 'AnomalyReport' })

const query = ofSpan({
  groupBy: z.enum(anomalyGroupings).default('kind'),
  agentId: id('agent').optional(),
  limit: bound,
})

export const anomaliesApi = {
  anomalies: get('/analytics/anomalies', {
    limits: { oneAtATime: true },
    ...reading,
    summary: 'What was unusual',
    description:
      'Days and merchants far above an agent’s own median, by the median of deviations from it over half a year; a subscription that has become dearer; the same charge twice; a new merchant with a large share; a monthly budget that does not last at this pace; spending outside of any run. Found by rules alone: the same days give the same answer. What was usual is known from 14 days on, of a merchant from 8.',
    query,
    returns: [200, AnomaliesRecord],
  }),
  anomaliesTable: get('/analytics/anomalies/csv', {
    limits: { oneAtATime: true },
    ...reading,
    summary: 'What was unusual, as a table',
    description: 'RFC 4180 in UTF-8: a line for each.',
    query,
    returns: [200, file('text/csv')],
  }),
}
