import { type EntityManager, LockMode } from '@mikro-orm/postgresql'
import { area, type FindRuns, type FoundRun } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly, lock, reaches } from '../../kernel/database/entity.ts'
import { timelineOfRun } from '../../kernel/journal/timeline.ts'
import { findAgent, lockAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { runsApi } from './api.ts'
import { about, shown, withUses } from './response.ts'
import { Run, runMachine } from './run.ts'

const find = (em: EntityManager, id: string): Promise<Run | null> => em.findOne(Run, { id })

/**
 * A run that the caller may change: a delegation's token may work in all of its agent's, and end its own. Whoever
 * spends holds the agent, and so does whoever changes a run: nothing is approved on what it was before.
 */
async function lockRun({ em, actor }: Pick<Context, 'em' | 'actor'>, id: string): Promise<Run | null> {
  const run = await find(em, id)
  if (!run || !reaches(actor, run)) return null
  await lockAgent(em, run.agentId)
  return lock(em, Run, id)
}

/** How many runs of an agent are ended in one transaction. */
const AT_ONCE = 500

const runs = implement(runsApi, {
  async create({ body }, context) {
    const { em, actor, emit, refuse } = context
    const agentId = body.agentId ?? actor.agentId
    if (!agentId) return refuse('agent_required')
    const agent = await lockAgent(em, agentId)
    if (!agent) return refuse('agent_not_found')
    const { externalId } = body
    if (externalId && (await em.findOne(Run, { agentId: agent.id, externalId })))
      return refuse('external_id_taken')
    const run = em.create(Run, { ...body, agentId, delegationId: actor.delegationId ?? null })
    emit('run.created', about(run))
    return shown(run, context)
  },

  async list({ query: { status, agentId, externalId, ...span } }, context) {
    const created = await createdWithin('run', span, context)
    const wanted = definedOnly({ status, agentId, externalId, ...created })
    const found = await context.page(Run, wanted)
    return { ...found, data: await withUses(found.data, context) }
  },

  async get({ params }, context) {
    const run = await find(context.em, params.id)
    return run ? shown(run, context) : context.refuse('run_not_found')
  },

  async update({ params, body }, context) {
    const { emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (run.status !== 'running') return refuse('run_not_running')
    Object.assign(run, body)
    emit('run.updated', about(run))
    return shown(run, context)
  },

  async complete({ params, body }, context) {
    const { now, emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (!runMachine.move(run, 'completed')) return refuse('run_not_running')
    Object.assign(run, { comment: body.comment, endedAt: now })
    emit('run.completed', about(run))
    return shown(run, context)
  },

  async fail({ params, body }, context) {
    const { now, emit, refuse } = context
    const run = await lockRun(context, params.id)
    if (!run) return refuse('run_not_found')
    if (!runMachine.move(run, 'failed')) return refuse('run_not_running')
    Object.assign(run, { reason: body.reason, endedAt: now })
    emit('run.failed', about(run))
    return shown(run, context)
  },

  async timeline({ params }, { em, sql, actor, pageBy, refuse }) {
    const run = await find(em, params.id)
    if (!run) return refuse('run_not_found')
    return pageBy((after, most) => timelineOfRun(sql, run, actor, after, most))
  },

  async endForAgent({ params }, { em, now, emit, wake }) {
    const agent = await findAgent(em, params.id)
    if (agent?.status !== 'deleting') return { done: true }
    const going = await em.find(
      Run,
      { agentId: agent.id, status: 'running' },
      { orderBy: { id: 'asc' }, limit: AT_ONCE, lockMode: LockMode.PESSIMISTIC_WRITE },
    )
    for (const run of going) {
      runMachine.move(run, 'failed')
      Object.assign(run, { reason: 'The agent is being deleted.', endedAt: now })
      emit('run.failed', about(run))
    }
    const done = going.length < AT_ONCE
    if (!done) wake(agentProcess, { id: agent.id, agentId: agent.id })
    return { done }
  },
})

const RUNS = `
select id, owner_id as "ownerId", mode, agent_id as "agentId", status <> 'running' as "hasEnded"
from runs where id = any($1::text[])`

const findRuns: FindRuns = (ids, sql) => sql<FoundRun & Row>(RUNS, [ids])

export const runsArea = area(
  'Runs',
  'ByteStream of an agent’s work: what each caused, what it cost, and the most it may cost.',
  runs,
  { aliases: { runs: 'workflows' }, entities: [Run], machines: [runMachine], findRuns },
)
