import type { z } from 'zod'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area, type FindRuns, type FoundRun } from '../../kernel/contract/area.ts'
import type { SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import {
  assistantTokenOf,
  definedOnly,
  FOR_UPDATE,
  FOR_UPDATE_BY_ID,
  mayReachRecord,
  mayUseRecord,
} from '../../kernel/database/entity.ts'
import { getRecordAs } from '../../kernel/database/get-record.ts'
import { readTimelineOfRun, withAuditIds, withCompleteFrom } from '../../kernel/journal/timeline.ts'
import { requireFirst } from '../../values/collections.ts'
import { truncateText } from '../../values/schemas.ts'
import { lockAgent } from '../agents/index.ts'
import { readBudgetUse } from '../budgets/index.ts'
import { limitWidening } from '../rules/index.ts'
import { type RunEvent, runSteps, runsApi } from './api.ts'
import { Run, runMachine } from './run.ts'

async function runResponses(runs: readonly Run[], { sql, tenant }: SqlContext) {
  const ids = runs.map(({ id }) => id)
  const useOf = await readBudgetUse(sql, tenant, ids)
  return runs.map(run => Object.assign(run, useOf(run.id)))
}

async function runResponse(run: Run, context: SqlContext) {
  return requireFirst(await runResponses([run], context))
}

const runEvent = ({ id, agentId, status, name, budgetCents, reason }: Run): z.output<typeof RunEvent> => ({
  runId: id,
  agentId,
  status,
  name: truncateText(name),
  ...(budgetCents === null ? {} : { budgetCents }),
  ...(reason === null ? {} : { reason: truncateText(reason) }),
})

const find = (em: EntityReader, id: string): Promise<Run | null> => em.findOne(Run, { id })

/**
 * Locks a run that the caller may change; null if there is none. The token of a delegation or an assistant may spend in
 * every run of its agent, but changes only those it has started. Locks the agent first, as spending does, so that no
 * intent is approved by the run's state before the change.
 */
async function lockRun({ em, actor }: WriteContext, id: string): Promise<Run | null> {
  const run = await find(em, id)
  if (!run || !mayReachRecord(actor, run) || !mayUseRecord(actor, run)) return null
  await lockAgent(em, run.agentId)
  return em.findOne(Run, { id }, FOR_UPDATE)
}

const runs = bindHandlers(runsApi, {
  async create({ body }, context) {
    const { em, actor, emit, refuse } = context
    const agentId = body.agentId ?? actor.agentId
    if (!agentId) return refuse('agent_required')
    const agent = await lockAgent(em, agentId)
    if (!agent) return refuse('agent_not_found')
    const { externalId } = body
    if (externalId && (await em.findOne(Run, { agentId: agent.id, externalId })))
      return refuse('external_id_taken')
    const { delegationId = null } = actor
    const run = em.create(Run, { ...body, agentId, delegationId, tokenId: assistantTokenOf(actor) })
    emit('run.created', runEvent(run))
    return runResponse(run, context)
  },

  async list({ query: { status, agentId, externalId, ...span } }, context) {
    const created = await createdWithinCondition('run', span, context)
    const page = await context.page(Run, definedOnly({ status, agentId, externalId, ...created }))
    return { ...page, data: await runResponses(page.data, context) }
  },

  get: getRecordAs(Run, 'run_not_found', runResponse),

  async update({ params, body }, context) {
    const { emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (run.status !== 'running') return refuse('run_not_running')
    const { webauthnAssertion, ...members } = body
    const { id, name, budgetCents } = run
    const changes = limitWidening(
      'Budget',
      budgetCents,
      members.budgetCents === undefined ? budgetCents : members.budgetCents,
    )
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => changes.map(change => ({ of: 'run', id, name, ...change })),
      context,
    )
    if (unsigned) return unsigned
    Object.assign(run, members)
    emit('run.updated', runEvent(run))
    return runResponse(run, context)
  },

  async complete({ params, body }, context) {
    const { now, emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (!runMachine.move(run, 'completed')) return refuse('run_not_running')
    Object.assign(run, { comment: body.comment, endedAt: now })
    emit('run.completed', runEvent(run))
    return runResponse(run, context)
  },

  async fail({ params, body }, context) {
    const { now, emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (!runMachine.move(run, 'failed')) return refuse('run_not_running')
    Object.assign(run, { reason: body.reason, endedAt: now })
    emit('run.failed', runEvent(run))
    return runResponse(run, context)
  },

  async timeline({ params }, { em, sql, actor, pageBy, refuse }) {
    const run = await find(em, params.id)
    if (!run) return refuse('run_not_found')
    const page = pageBy((after, most) => readTimelineOfRun(sql, run, actor, after, most))
    return withAuditIds(await withCompleteFrom(page, sql, run))
  },
})

const END_BATCH = 500

const FIRST_RUNNING = `
select id from runs where owner_id = $1 and mode = $2 and agent_id = $3 and status = 'running' order by id limit 1`

export async function firstRunningRun(agentId: string, { sql, tenant }: SqlContext): Promise<string | null> {
  const [run] = await sql<{ id: string } & Row>(FIRST_RUNNING, [tenant.ownerId, tenant.mode, agentId])
  return run?.id ?? null
}

/** A step in the deletion of an agent: ends a batch of its runs, and is repeated until none is running. */
export async function endRunsOfAgent(
  agentId: string,
  context: WriteContext<(typeof runSteps.endForAgent)['emits']>,
): Promise<void> {
  const { em, now, emit } = context
  const running = await em.find(
    Run,
    { agentId, status: 'running' },
    { ...FOR_UPDATE_BY_ID, limit: END_BATCH },
  )
  for (const run of running) {
    runMachine.move(run, 'failed')
    Object.assign(run, { reason: 'The agent is being deleted.', endedAt: now })
    emit('run.failed', runEvent(run))
  }
}

const RUNS = `
select r.id, r.owner_id as "ownerId", r.mode, r.agent_id as "agentId", r.status <> 'running' as "hasEnded"
from jsonb_to_recordset($1::jsonb) as named ("ownerId" text, mode text, id text)
cross join lateral (
  select * from runs one where (one.owner_id, one.mode, one.id) = (named."ownerId", named.mode, named.id) limit 1) as r`

const findRuns: FindRuns = (named, sql) => sql<FoundRun & Row>(RUNS, [JSON.stringify(named)])

export const runsArea = area(
  'Runs',
  'Units of an agent’s work: the events, the cost and the budget of each.',
  runs,
  {
    aliases: { runs: 'workflows' },
    steps: runSteps,
    entities: [Run],
    machines: [runMachine],
    findRuns,
  },
)
