import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import {
  agent_required,
  type Failure,
  get,
  gone,
  list,
  missing,
  patch,
  post,
} from '../../kernel/contract/operation.ts'
import { TimelineEntry } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import {
  freeText,
  label,
  metadata,
  ownAgent,
  recordHead,
  recordTail,
  searchText,
  timeRange,
} from '../../values/schemas.ts'
import { runMachine } from './run.ts'

const status = z.enum(runMachine.states)

const budget = euros
  .nullable()
  .meta({ description: 'The most that its intents may hold and spend together; null: no limit of its own.' })

export const RunRecord = z
  .object({
    ...recordHead('run'),
    agentId: id('agent'),
    delegationId: id('delegation')
      .nullable()
      .meta({ description: 'The delegation whose token started it: of runs, that token ends these only.' }),
    name: z.string(),
    externalId: z.string().nullable(),
    status,
    budgetEuros: budget,
    heldEuros: euros.meta({ description: 'Kept for intents of the run that have been approved.' }),
    spentEuros: euros.meta({ description: 'Paid on intents of the run.' }),
    comment: z.string().nullable(),
    reason: z.string().nullable().meta({ description: 'Why it failed.' }),
    endedAt: instant.nullable(),
    metadata,
    ...recordTail,
  })
  .meta({ id: 'Run' })

export const RunEvent = z.object({
  runId: id('run'),
  agentId: id('agent'),
  status,
  name: z.string().max(200),
  budgetEuros: euros.optional(),
  reason: z.string().max(200).optional(),
})

const fails = {
  run_not_found: missing('run'),
  run_not_running: [400, 'The run has ended already.'],
} as const satisfies Record<string, Failure>
const { run_not_found } = fails

const members = {
  name: label.meta({ examples: ['Literature review'] }),
  budgetEuros: budget,
}

export const runsApi = {
  create: post('/runs', {
    summary: 'Start a run of an agent',
    description:
      'One piece of the agent’s work. Requests that carry its id in the header `X-Run-Id` are shown in its timeline, and intents declared so (or with `runId`) count against its budget. An agent that starts a run can only narrow what it may spend: every other limit holds as well.',
    callers: ['key', 'agent'],
    scope: 'runs:write',
    body: z.strictObject({
      agentId: ownAgent,
      name: members.name,
      externalId: label
        .nullable()
        .default(null)
        .meta({ description: 'Your own name for the run; unique for the agent.' }),
      budgetEuros: members.budgetEuros.default(null),
      metadata: metadata.default({}),
    }),
    example: { agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', name: 'Literature review', budgetEuros: 50 },
    returns: [201, RunRecord],
    fails: {
      agent_required,
      agent_not_found: gone('agent'),
      external_id_taken: [409, 'externalId: another run of the agent has it.'],
    },
    emits: { 'run.created': event('A run of an agent has been started.', RunEvent) },
  }),
  list: list('/runs', {
    summary: 'List runs',
    callers: ['key', 'agent'],
    scope: 'runs:read',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      externalId: searchText,
      ...timeRange,
    },
    item: RunRecord,
  }),
  get: get('/runs/{id}', {
    summary: 'Get a run, with what it holds and has spent',
    callers: ['key', 'agent'],
    scope: 'runs:read',
    returns: [200, RunRecord],
    fails: { run_not_found },
  }),
  update: patch('/runs/{id}', {
    summary: 'Rename a run that goes on, or give it another budget',
    description:
      'A budget below what the run holds and has spent takes nothing back: nothing more is approved until it fits.',
    callers: ['key'],
    scope: 'runs:write',
    body: z.strictObject(members).partial(),
    example: { budgetEuros: 80 },
    returns: [200, RunRecord],
    fails,
    emits: { 'run.updated': event('A run has another name or budget.', RunEvent) },
  }),
  complete: post('/runs/{id}/complete', {
    summary: 'End a run that has done its work',
    description:
      'Nothing new is approved in it from then on. What has been approved keeps its money until it is paid, cancelled or expires.',
    callers: ['key', 'agent'],
    scope: 'runs:write',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'Four papers bought' },
    returns: [200, RunRecord],
    fails,
    emits: { 'run.completed': event('A run has done its work.', RunEvent) },
  }),
  fail: post('/runs/{id}/fail', {
    summary: 'End a run that has failed',
    description: 'As for a completed run, what has been approved in it goes its way.',
    callers: ['key', 'agent'],
    scope: 'runs:write',
    body: z.strictObject({ reason: freeText.min(1) }),
    example: { reason: 'The publisher could not be reached' },
    returns: [200, RunRecord],
    fails,
    emits: { 'run.failed': event('A run has failed, or its agent is being deleted.', RunEvent) },
  }),
  timeline: list('/runs/{id}/timeline', {
    summary: 'What a run has caused, and what it cost',
    description:
      'The oldest first: all that requests with this `X-Run-Id` have changed, and what became of the run’s intents, whoever decided. What the run holds and has spent altogether is in the run itself. The token of a delegation is shown what is done with it or under the delegation.',
    callers: ['key', 'agent'],
    scope: 'runs:read',
    item: TimelineEntry,
    fails: { run_not_found },
  }),
  /** A step in the deletion of an agent: ends a batch of its runs, and is repeated until none is running. */
  endForAgent: post('/agents/{id}/end-runs', {
    summary: 'End the runs of an agent that is being deleted',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    emits: { 'run.failed': RunEvent },
  }),
}
