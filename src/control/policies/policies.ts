import { LockMode } from '@mikro-orm/core'
import type { EntityManager } from '@mikro-orm/postgresql'
import { area, reaction } from '../../kernel/area.ts'
import type { Context } from '../../kernel/context.ts'
import type { Deadline } from '../../kernel/deadline.ts'
import { implement } from '../../kernel/operation.ts'
import { Problem } from '../../kernel/problem.ts'
import { lock } from '../../kernel/record.ts'
import { excerpt } from '../../kernel/schemas.ts'
import { type Agent, AgentCreated, AgentEvent, findAgent, lockAgent } from '../agents/agents.ts'
import { agentProcess } from '../agents/process.ts'
import { PolicyEvent, policiesApi } from './api.ts'
import { Policy, PolicyVersion } from './policy.ts'
import { presets } from './presets.ts'
import { rulesOf, rulesOnRecord } from './rules.ts'

const standing = { deletedAt: null }

const about = (policy: Policy) => ({
  policyId: policy.id,
  agentId: policy.agentId,
  templateId: policy.templateId,
  name: excerpt(policy.name),
  version: policy.version,
})

type Changing = Pick<Context, 'em' | 'actor' | 'wake'>

/** Every state that a policy has had is kept; and an end that has moved is waited for anew. */
function keepVersion(policy: Policy, { em, actor, wake }: Changing): void {
  em.create(PolicyVersion, {
    policyId: policy.id,
    agentId: policy.agentId,
    version: policy.version,
    rules: rulesOnRecord(policy),
    changedByType: actor.type,
    changedById: actor.id,
  })
  if (policy.agentId && policy.isWaitedFor())
    wake(agentProcess, { id: policy.agentId, agentId: policy.agentId })
}

const findPolicy = (em: EntityManager, id: string): Promise<Policy | null> =>
  em.findOne(Policy, { id, ...standing })

async function lockPolicy(em: EntityManager, id: string): Promise<Policy | null> {
  const policy = await lock(em, Policy, id)
  return policy?.deletedAt ? null : policy
}

/** The policy an agent spends under. */
export const effectivePolicy = (em: EntityManager, agentId: string): Promise<Policy | null> =>
  em.findOne(Policy, { agentId, ...standing })

/** Gives the agent a copy of its own, or turns the one it has into a copy of this template. */
async function assignTo(agent: Agent, template: Policy, context: Changing & { now: Date }): Promise<Policy> {
  const { em, now } = context
  const own = await effectivePolicy(em, agent.id)
  own?.copyFrom(template, now, now)
  const provenance = { agentId: agent.id, templateId: template.id, assignedAt: now }
  const policy = own ?? em.create(Policy, { ...rulesOf(template), ...provenance })
  policy.schedule(now)
  agent.policyId = policy.id
  keepVersion(policy, context)
  return policy
}

const policies = implement(policiesApi, {
  async create({ body }, context) {
    const policy = context.em.create(Policy, body)
    keepVersion(policy, context)
    context.emit('policy.created', about(policy))
    return policy
  },

  list({ query: { kind, templateId } }, { page }) {
    const byKind = { template: { agentId: null }, agent: { agentId: { $ne: null } } }
    return page(Policy, {
      ...standing,
      ...(kind && byKind[kind]),
      ...(templateId === undefined ? {} : { templateId }),
    })
  },

  presets: (_, { pageOf }) => pageOf(presets),

  preset: ({ params }, { refuse }) =>
    presets.find(preset => preset.id === params.presetId) ?? refuse('preset_not_found'),

  async get({ params }, { em, refuse }) {
    return (await findPolicy(em, params.id)) ?? refuse('policy_not_found')
  },

  async replace({ params, body: { version, ...body } }, context) {
    const { em, now, emit, refuse } = context
    const policy = await lockPolicy(em, params.id)
    if (!policy) return refuse('policy_not_found')
    if (version !== undefined && version !== policy.version) return refuse('version_conflict')
    policy.revise(rulesOf(body), now)
    keepVersion(policy, context)
    emit('policy.updated', about(policy))
    return policy
  },

  async delete({ params }, { em, now, emit, refuse }) {
    const policy = await lockPolicy(em, params.id)
    if (!policy) return refuse('policy_not_found')
    if (policy.agentId) return refuse('policy_assigned')
    policy.deletedAt = now
    emit('policy.deleted', about(policy))
  },

  async versions({ params }, { em, page, refuse }) {
    const policy = await em.findOne(Policy, { id: params.id })
    return policy ? page(PolicyVersion, { policyId: policy.id }) : refuse('policy_not_found')
  },

  async apply({ params }, context) {
    const { em, now, emit, refuse } = context
    const family = { $or: [{ id: params.id }, { templateId: params.id }], ...standing }
    const locked = await em.find(Policy, family, {
      orderBy: { id: 'asc' },
      lockMode: LockMode.PESSIMISTIC_WRITE,
    })
    const template = locked.find(({ id }) => id === params.id)
    if (!template) return refuse('policy_not_found')
    if (template.agentId) return refuse('not_a_template')
    const copies = locked.filter(copy => copy !== template)
    for (const copy of copies) {
      copy.copyFrom(template, copy.assignedAt ?? now, now)
      keepVersion(copy, context)
      emit('policy.updated', about(copy))
    }
    emit('policy.applied', about(template))
    const agentIds = copies.flatMap(({ agentId }) => agentId ?? [])
    return { policyId: template.id, version: template.version, agentIds }
  },

  async assign({ params, body }, context) {
    const { em, emit, refuse } = context
    const agent = await lockAgent(em, params.agentId)
    if (!agent) return refuse('agent_not_found')
    const template = await lockPolicy(em, body.policyId)
    if (!template) return refuse('policy_not_found')
    if (template.agentId) return refuse('not_a_template')
    const policy = await assignTo(agent, template, context)
    emit('policy.assigned', about(policy))
    return policy
  },

  async effective({ params }, { em, refuse }) {
    if (!(await findAgent(em, params.agentId))) return refuse('agent_not_found')
    return (await effectivePolicy(em, params.agentId)) ?? refuse('no_policy_assigned')
  },

  async toggle({ params, body }, context) {
    const { em, now, emit, refuse } = context
    const agent = await lockAgent(em, params.agentId)
    if (!agent) return refuse('agent_not_found')
    const policy = agent.policyId && (await lockPolicy(em, agent.policyId))
    if (!policy) return refuse('no_policy_assigned')
    policy.revise({ [body.field]: body.value }, now)
    keepVersion(policy, context)
    emit('policy.updated', about(policy))
    return policy
  },

  async expire({ params }, { em, now, emit, refuse, wake }) {
    const agent = await lockAgent(em, params.id)
    const policy = agent?.policyId ? await lockPolicy(em, agent.policyId) : null
    if (!policy) return refuse('policy_not_found')
    if (!policy.expire(now)) return { expired: false }
    emit('policy.expired', { ...about(policy), agentId: params.id, action: policy.expirationAction })
    wake(agentProcess, { id: params.id, agentId: params.id })
    return { expired: true }
  },

  async look({ params }, { em, now, refuse }) {
    const agent = await findAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const policy = await effectivePolicy(em, agent.id)
    const due = policy?.pendingEnd() ?? null
    const dueInMs = due && due.getTime() - now.getTime()
    const summary = due
      ? `the policy ends ${due.toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : 'nothing is pending'
    return { status: agent.status, summary: `${agent.name}: ${summary}`, closed: due === null, dueInMs }
  },
})

/** An agent that was created with a template gets its copy in the same transaction. */
const onAgentCreated = reaction(
  AgentCreated,
  { 'policy.assigned': PolicyEvent },
  async ({ agentId, policyId }, context) => {
    if (!policyId) return
    const agent = await lockAgent(context.em, agentId)
    const template = await findPolicy(context.em, policyId)
    if (!agent || !template || template.agentId)
      throw new Problem('unknown_reference', 'policyId: no such policy template.')
    context.emit('policy.assigned', about(await assignTo(agent, template, context)))
  },
)

/** The policy of an agent goes before it does: neither its end nor a template's changes reach it any more. */
const onAgentDeleting = reaction(
  AgentEvent,
  policiesApi.delete.emits,
  async ({ agentId }, { em, now, emit }) => {
    const agent = await findAgent(em, agentId)
    const policy = agent?.policyId ? await lockPolicy(em, agent.policyId) : null
    if (!policy) return
    policy.deletedAt = now
    emit('policy.deleted', about(policy))
  },
)

/** The end of an agent's own policy. */
const expiry: Deadline = {
  process: agentProcess,
  table: 'policies',
  record: 'agent_id',
  agent: 'agent_id',
  due: 'expires_at',
  open: 'agent_id is not null and deleted_at is null and expired_at is null',
  waits: 'expires_at is not null',
  operations: ['policies.expire'],
}

export const policiesArea = area(
  'Policies',
  'Spending policies: limits, allowlists, blocklists, hours, approvals.',
  policies,
  {
    entities: [Policy, PolicyVersion],
    deadlines: [expiry],
    reactions: { 'agent.created': onAgentCreated, 'agent.deleting': onAgentDeleting },
  },
)
