import { z } from 'zod'
import { get } from '../../../kernel/contract/operation.ts'
import { id } from '../../../values/ids.ts'
import { moneySchema, signedMoneySchema } from '../../../values/money.ts'
import { groupLimitSchema, reportAccess, reportQuery, reportSpanMembers } from '../../reports/index.ts'
import { anomalyGroupings, anomalyKinds } from './anomaly.ts'

const AnomalyRecord = z.object({
  kind: z.enum(anomalyKinds),
  agentId: id('agent')
    .nullable()
    .meta({ description: 'Null for payments of the owner, and for the shared budget.' }),
  name: z.string().nullable().meta({ description: 'The name of the agent.' }),
  merchant: z.string().nullable(),
  day: z.string().meta({ examples: ['2026-11-14'] }),
  sentence: z.string().meta({ examples: ['€ 840.00 was spent on 2026-11-14; the usual amount is € 52.40.'] }),
  figures: z
    .object({
      amountCents: signedMoneySchema,
      usualCents: moneySchema.optional(),
      limitCents: moneySchema.optional(),
      share: z.number().optional(),
      deviations: z.number().optional(),
      times: z.int().optional(),
    })
    .meta({ description: 'The figures of the sentence.' }),
  score: z.number().meta({ description: 'How unusual, from 0.5 (slightly) to 1.', examples: [0.82] }),
})

export const AnomaliesRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.enum(anomalyGroupings),
    data: z.array(AnomalyRecord).meta({ description: 'The most unusual first.' }),
    groups: z
      .array(
        z.object({
          key: z
            .string()
            .nullable()
            .meta({ description: 'The kind, agent or merchant; null for anomalies without one.' }),
          name: z.string().nullable().meta({ description: 'The name of an agent.' }),
          count: z.int().min(1),
        }),
      )
      .meta({ description: 'Counts of the anomalies in `data`, the largest first.' }),
    others: z.int().min(0).meta({ description: 'The number of further anomalies.' }),
  })
  .meta({ id: 'AnomalyReport' })

const query = reportQuery({
  groupBy: z.enum(anomalyGroupings).default('kind'),
  agentId: id('agent').optional(),
  limit: groupLimitSchema,
})

export const anomaliesApi = {
  anomalies: get('/analytics/anomalies', {
    limits: { oneAtATime: true },
    ...reportAccess,
    summary: 'Find anomalies',
    description:
      'Days and merchants far above an agent’s own median (by median absolute deviation over half a year); price increases of subscriptions; repeated charges; new merchants with a large share; monthly budgets that do not last at this pace; spending outside of runs.\n\nThe rules are deterministic: the same days give the same answer. Usual amounts need 14 days of data, those of a merchant 8.',
    query,
    csv: 'a line for each anomaly',
    returns: [200, AnomaliesRecord],
  }),
}
