import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import {
  agentRequiredRefusal,
  notFound,
  notFoundOrDeleted,
  type RefusalSpec,
} from '../../kernel/contract/operation.ts'
import { pageQuerySchema } from '../../kernel/contract/page.ts'
import { step } from '../../kernel/contract/step.ts'
import { TimelinePage } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import {
  agentIdSchema,
  freeTextSchema,
  inputMetadataSchema,
  labelSchema,
  metadataSchema,
  recordHead,
  recordTimestamps,
  searchTextSchema,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { runMachine } from './run.ts'

const status = z.enum(runMachine.states)

const budget = moneySchema.nullable().meta({
  description:
    'Maximum amount that the run’s intents may hold and spend together. Null: the run has no budget of its own.',
})

export const RunRecord = z
  .object({
    ...recordHead('run'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable().meta({
      description:
        'The delegation whose token started the run. That token can end only runs that it started.',
    }),
    name: z.string(),
    externalId: z.string().nullable(),
    status,
    budgetCents: budget,
    heldCents: moneySchema.meta({ description: 'Amount held for approved intents of the run.' }),
    spentCents: moneySchema.meta({ description: 'Amount spent on intents of the run.' }),
    comment: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'Why the run failed.' }),
    endedAt: instant.nullable(),
    metadata: metadataSchema,
    ...recordTimestamps,
  })
  .meta({ id: 'Run' })

export const RunEvent = z.object({
  runId: id('run'),
  agentId: id('agent'),
  status,
  name: z.string().max(200),
  budgetCents: moneySchema.optional(),
  reason: z.string().max(200).optional(),
})

const fails = {
  run_not_found: notFound('run'),
  run_not_running: [400, 'The run has already ended.'],
} as const satisfies Record<string, RefusalSpec>
const { run_not_found } = fails

const members = {
  name: labelSchema.meta({ examples: ['Literature review'] }),
  budgetCents: budget,
}

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'runs:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'runs:write' })

export const runsApi = {
  create: writers.post('/runs', {
    summary: 'Start a run of an agent',
    tool: {
      name: 'start_run',
      isCommon: true,
      use: 'Use it at the beginning of a task that buys several things: name the run in runId of each intent, and its budget limits them together.',
    },
    description:
      'A run is one piece of the agent’s work. Requests with its ID in the header `X-Run-Id` appear in its timeline, and intents declared with that header or with `runId` count against its budget. A run never widens what the agent may spend: every other limit applies as well.',
    body: z.strictObject({
      agentId: agentIdSchema,
      name: members.name,
      externalId: labelSchema
        .nullable()
        .default(null)
        .meta({ description: 'Your own ID for the run. Unique per agent.' }),
      budgetCents: members.budgetCents.default(null),
      metadata: inputMetadataSchema.default({}),
    }),
    example: { agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', name: 'Literature review', budgetEuros: 50 },
    returns: [201, RunRecord],
    fails: {
      agent_required: agentRequiredRefusal,
      agent_not_found: notFoundOrDeleted('agent'),
      external_id_taken: [
        409,
        'externalId: another run of the agent already uses it. Choose a different one.',
      ],
    },
    emits: { 'run.created': declareEvent('A run of an agent has been started.', RunEvent) },
  }),
  list: readers.list('/runs', {
    summary: 'List runs',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      externalId: searchTextSchema,
      ...timeRangeMembers,
    },
    item: RunRecord,
  }),
  get: readers.getOne('/runs/{id}', 'a run', RunRecord, { run_not_found }),
  update: writers.patch('/runs/{id}', {
    summary: 'Update a run that is running',
    description:
      'The budget may be lower than the amount already held and spent. Nothing is taken back, but nothing more is approved until the total is within the budget.',
    callers: ['key'],
    body: z.strictObject({ ...members, ...widening.members }).partial(),
    example: { budgetEuros: 80 },
    returns: [200, RunRecord],
    signature: widening.signature,
    fails: { ...widening.fails, ...fails },
    emits: {
      ...widening.emits,
      'run.updated': declareEvent('The name or the budget of a run has changed.', RunEvent),
    },
  }),
  complete: writers.post('/runs/{id}/complete', {
    summary: 'Complete a run',
    tool: {
      name: 'complete_run',
      isCommon: true,
      use: 'Use it when the task of a run is done: its unused budget is released.',
    },
    description:
      'Nothing more is approved in the run. Approved intents keep their money until they are paid, cancelled or expire.',
    body: z.strictObject({ comment: freeTextSchema.nullable().default(null) }),
    example: { comment: 'Four papers bought' },
    returns: [200, RunRecord],
    fails,
    emits: { 'run.completed': declareEvent('A run has been completed.', RunEvent) },
  }),
  fail: writers.post('/runs/{id}/fail', {
    summary: 'Fail a run',
    description: 'As with a completed run, nothing more is approved, and approved intents keep their money.',
    body: z.strictObject({ reason: freeTextSchema.min(1) }),
    example: { reason: 'The publisher could not be reached' },
    returns: [200, RunRecord],
    fails,
    emits: { 'run.failed': declareEvent('A run has failed, or its agent is being deleted.', RunEvent) },
  }),
  timeline: readers.get('/runs/{id}/timeline', {
    summary: 'Get the timeline of a run',
    description:
      'Oldest first: every change by requests with this `X-Run-Id`, and every change of the run’s intents by any caller. The run itself has the totals. The token of a delegation sees only changes made with it or under its delegation.',
    query: pageQuerySchema({}),
    returns: [200, TimelinePage],
    fails: { run_not_found },
  }),
}

export const runSteps = {
  endForAgent: step('runs.endForAgent', {
    summary: 'End the runs of an agent that is being deleted',
    emits: { 'run.failed': RunEvent },
  }),
}
