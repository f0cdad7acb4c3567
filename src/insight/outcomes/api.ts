import { z } from 'zod'
import { intentUseRefusals } from '../../control/intents/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { get, notFound } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { cents, formatMoney, moneySchema, signedMoneySchema } from '../../values/money.ts'
import {
  freeTextSchema,
  inputMetadataSchema,
  metadataSchema,
  recordHead,
  recordTimestamps,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { groupLimitSchema, reportAccess, reportQuery, reportSpanMembers } from '../reports/index.ts'

const MOST_VALUE = cents(100_000_000_00n)

const members = {
  success: z.boolean().meta({ description: 'Whether the payment served its purpose.' }),
  valueCents: moneySchema
    .nullable()
    .meta({ description: 'Value of the outcome to you. Null if not reported.' }),
  note: z.string().nullable(),
  metadata: metadataSchema,
}

export const OutcomeRecord = z
  .object({
    ...recordHead('outcome'),
    agentId: id('agent'),
    intentId: id('intent'),
    runId: id('run').nullable(),
    ...members,
    ...recordTimestamps,
  })
  .meta({ id: 'Outcome' })

const OutcomeEvent = z.object({
  outcomeId: id('outcome'),
  intentId: id('intent'),
  agentId: id('agent'),
  runId: id('run').optional(),
  delegationId: id('delegation').optional(),
  success: z.boolean(),
  valueCents: moneySchema.nullable(),
})

export const outcomeEvents = {
  'outcome.reported': declareEvent('The outcome of an intent was reported.', OutcomeEvent),
  'outcome.corrected': declareEvent(
    'The outcome of an intent was corrected; `before` has each replaced value, metadata as a list of names and texts.',
    OutcomeEvent.extend({
      before: z.object({
        success: z.boolean().optional(),
        valueCents: moneySchema.nullable().optional(),
        note: z.string().nullable().optional(),
        // Uses a list, so that the trail commits to names and texts alike: people have written both, and both
        // can be forgotten.
        metadata: z
          .array(z.object({ name: z.string(), text: z.string() }))
          .max(50)
          .optional(),
      }),
    }),
  ),
}

const writable = {
  valueCents: moneySchema
    .refine(amount => amount <= MOST_VALUE, `at most ${formatMoney(MOST_VALUE)}`)
    .nullable(),
  note: freeTextSchema.min(1).nullable(),
}

const outcome_not_found = notFound('outcome')

const rate = z
  .object({ rate: z.number(), low: z.number(), high: z.number() })
  .nullable()
  .meta({
    description:
      'The share of reported outcomes that succeeded, with its 95 % interval (Wilson). Null without reports.',
    examples: [{ rate: 0.6667, low: 0.2077, high: 0.9385 }],
  })

const figures = {
  reported: z.int().min(0).meta({ description: 'Intents with an outcome.' }),
  succeeded: z.int().min(0),
  successRate: rate,
  netSpendCents: signedMoneySchema.meta({
    description:
      'The present cost of the reported intents: payments less refunds. Unpaid intents count as 0.',
  }),
  valueCents: moneySchema.meta({ description: 'The sum of the reported values; `valued` counts them.' }),
  valued: z.int().min(0),
  returnCents: signedMoneySchema.meta({ description: '`valueEuros` less `netSpendEuros`.' }),
  returnShare: z
    .number()
    .nullable()
    .meta({ description: 'The return as a share of the net spend; null without one.' }),
  costPerSuccessCents: moneySchema.nullable().meta({
    description: 'The net spend for each success, to the cent; null without a success or without spend.',
  }),
  unreported: z.int().min(0).meta({ description: 'Completed intents without a reported outcome.' }),
}

export const OUTCOME_GROUPING_PATTERN = /^(?:agent|merchant|mcc|run|metadata\.[^\s].{0,99})$/su

const SummaryRecord = z
  .object({
    ...reportSpanMembers,
    groupBy: z.string(),
    total: z.object(figures),
    data: z
      .array(
        z.object({
          key: z
            .string()
            .nullable()
            .meta({ description: 'The agent, merchant, code, run or value; null for intents without one.' }),
          name: z
            .string()
            .nullable()
            .meta({ description: 'The name of an agent, where the groups are agents.' }),
          ...figures,
        }),
      )
      .meta({ description: 'Groups with the most outcomes first.' }),
    other: z
      .object({ groups: z.int(), ...figures })
      .nullable()
      .meta({ description: 'All other groups together.' }),
  })
  .meta({ id: 'OutcomeSummary' })

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'outcomes:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'outcomes:write' })

export const outcomesApi = {
  create: writers.post('/outcomes', {
    summary: 'Report the outcome of an intent',
    tool: {
      name: 'report_outcome',
      isCommon: true,
      use: 'Use it after a payment: report whether it served its purpose and what it was worth. Do not guess a value.',
    },
    description:
      'Once for each intent, in any status: an unpaid one counts with a spend of 0. Correct a wrong report with `PATCH`.',
    body: z.strictObject({
      intentId: id('intent'),
      success: members.success,
      valueCents: writable.valueCents.default(null).meta({ description: 'Value of the outcome to you.' }),
      note: writable.note.default(null),
      metadata: inputMetadataSchema.default({}),
    }),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      success: true,
      valueEuros: 40,
      note: 'Cited twice',
    },
    returns: [201, OutcomeRecord],
    fails: {
      intent_not_found: notFound('intent'),
      ...intentUseRefusals,
      outcome_reported: [409, 'intentId: the outcome is already reported. Correct that one.'],
    },
    emits: { 'outcome.reported': outcomeEvents['outcome.reported'] },
  }),
  list: readers.list('/outcomes', {
    summary: 'List outcomes',
    filters: {
      agentId: id('agent').optional(),
      intentId: id('intent').optional(),
      runId: id('run').optional(),
      success: z.enum(['true', 'false']).optional(),
      ...timeRangeMembers,
    },
    item: OutcomeRecord,
  }),
  summary: get('/outcomes/summary', {
    ...reportAccess,
    scope: 'outcomes:read',
    summary: 'Summarize outcomes',
    description:
      'Outcomes of the intents declared in these days, their present cost, and the number of unreported ones. The groups and `other` add up to `total`. With `metadata.<key>`, the outcome’s own value takes precedence over the intent’s.',
    query: reportQuery({
      groupBy: z
        .string()
        .max(109)
        .regex(OUTCOME_GROUPING_PATTERN, 'agent, merchant, mcc, run, or metadata. and a key')
        .default('agent')
        .meta({ examples: ['agent', 'metadata.project'] }),
      agentId: id('agent').optional(),
      limit: groupLimitSchema,
    }),
    returns: [200, SummaryRecord],
  }),
  get: readers.getOne('/outcomes/{id}', 'an outcome', OutcomeRecord, { outcome_not_found }),
  update: writers.patch('/outcomes/{id}', {
    summary: 'Correct an outcome',
    description: 'The previous values stay in the audit trail: `before` of the event `outcome.corrected`.',
    body: z.strictObject({ success: members.success, ...writable, metadata: metadataSchema }).partial(),
    example: { success: false, note: 'Withdrawn by the publisher' },
    returns: [200, OutcomeRecord],
    fails: { outcome_not_found },
    emits: { 'outcome.corrected': outcomeEvents['outcome.corrected'] },
  }),
}
