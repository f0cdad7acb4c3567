import { LockMode } from '@mikro-orm/core'
import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import { findAgent, lockAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { budgetApi, OwnerBudget, ownerBudgets } from '../budgets/index.ts'
import { StoredDecision } from '../decisions/index.ts'
import { presets, rulesOf } from '../rules/index.ts'
import { policiesApi } from './api.ts'
import { backtest } from './backtest.ts'
import { Policy, PolicyVersion } from './policy.ts'
import {
  about,
  assignTo,
  effectivePolicy,
  findPolicy,
  keepVersion,
  lockPolicy,
  sourceOf,
  standing,
} from './policy-versioning.ts'
import { probe } from './probe.ts'
import { onAgentCreated, onAgentDeleting } from './reactions.ts'
import { whatIfApi } from './simulation-api.ts'
import { withChanges } from './versions.ts'

/** The lists of a policy can be long: so few are read before it is known how long they are. */
const AT_FIRST = 4

const rulesHandlers = implement(policiesApi, {
  async create({ body }, context) {
    const policy = context.em.create(Policy, body)
    keepVersion(policy, context)
    context.emit('policy.created', about(policy))
    return policy
  },

  list({ query: { kind, templateId } }, { page }) {
    const byKind = { template: { agentId: null }, agent: { agentId: { $ne: null } } }
    const where = {
      ...standing,
      ...(kind && byKind[kind]),
      ...(templateId === undefined ? {} : { templateId }),
    }
    return page(Policy, where, 'id', AT_FIRST)
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
    policy.set(rulesOf(body), now)
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
    if (!policy) return refuse('policy_not_found')
    const found = await page(PolicyVersion, { policyId: policy.id }, 'id', AT_FIRST)
    return { ...found, data: await withChanges(em, found.data) }
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
      copy.copyFrom({ id: template.id, rules: rulesOf(template) }, copy.assignedAt ?? now, now)
      keepVersion(copy, context)
      emit('policy.updated', about(copy))
    }
    emit('policy.applied', about(template))
    const agents = copies.flatMap(({ agentId, overrides: kept }) => (agentId ? { agentId, kept } : []))
    const agentIds = agents.map(({ agentId }) => agentId)
    return { policyId: template.id, version: template.version, agentIds, agents }
  },

  async assign({ params, body }, context) {
    const { em, emit, refuse } = context
    const agent = await lockAgent(em, params.agentId)
    if (!agent) return refuse('agent_not_found')
    const source = await sourceOf(em, body.policyId)
    if (typeof source === 'string') return refuse(source)
    const policy = await assignTo(agent, source, context)
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
    policy.switch(body.field, body.value, now)
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

  async status({ params }, { em, now, refuse }) {
    const agent = await findAgent(em, params.id)
    if (!agent) return refuse('agent_not_found')
    const policy = await effectivePolicy(em, agent.id)
    const due = policy?.pendingEnd() ?? null
    const dueInMs = due && due.getTime() - now.getTime()
    const summary = due
      ? `the policy ends ${due.toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : 'nothing is pending'
    const { mode, status } = agent
    return {
      status,
      summary: `Agent in ${mode} mode: ${summary}`,
      closed: due === null,
      dueInMs,
      waitsFor: due && `for the policy to end, ${minuteInWords(due)}`,
      signals: [],
    }
  },
})

const policies = implement(
  { ...policiesApi, ...budgetApi, ...whatIfApi },
  { ...rulesHandlers.handlers, ...ownerBudgets.handlers, backtest, probe },
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
  'Spending policies: limits, allowlists, blocklists, hours, approvals; and the budget of all agents together.',
  policies,
  {
    entities: [Policy, PolicyVersion, StoredDecision, OwnerBudget],
    deadlines: [expiry],
    openRecords: [
      {
        process: agentProcess,
        select: `select agent_id as id, owner_id, mode, agent_id from policies where ${expiry.open} and ${expiry.waits}`,
      },
    ],
    reactions: { 'agent.created': onAgentCreated, 'agent.deleting': onAgentDeleting },
  },
)
