import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { readWalletBalances } from '../../money/ledger/index.ts'
import { addCents, type Cents, NO_CENTS } from '../../values/money.ts'
import { Agent, findAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import {
  type BudgetCounters,
  budgetApi,
  OwnerBudget,
  ownerBudgetHandlers,
  readCounters,
} from '../budgets/index.ts'
import { StoredDecision } from '../decisions/index.ts'
import { encodePolicyRules, pickPolicyRules, policyPresets, remainingLimit } from '../rules/index.ts'
import { policiesApi, policySteps } from './api.ts'
import { backtestPolicy } from './backtest.ts'
import { Policy, PolicyVersion, policiesPersonalData } from './policy.ts'
import {
  effectivePolicy,
  findPolicy,
  lockPolicy,
  onAgentCreated,
  onAgentDeleting,
  policyEvent,
  policyNotDeleted,
  recordPolicyVersion,
} from './policy-versioning.ts'
import {
  applyTemplate,
  assignToAgent,
  holdPolicyWrite,
  isRefused,
  refuseSteps,
  replaceRules,
  toggleRule,
} from './policy-writes.ts'
import { probePolicy } from './probe.ts'
import { policySimulationApi } from './simulation-api.ts'
import { agentUsageApi } from './usage-api.ts'
import { withPolicyChanges } from './versions.ts'
import { stepsOfPolicies, templateOfNewAgent } from './widening.ts'

type Used = ReturnType<BudgetCounters['today']>[number]

const usage: HandlerOf<typeof agentUsageApi.usage> = async ({ query: { status, agentId } }, context) => {
  const { page, em, sql, tenant, now } = context
  const agents = await page(Agent, {
    status: status ?? { $ne: 'deleted' },
    ...(agentId === undefined ? {} : { id: agentId }),
  })
  const [counters, balances, policies] = await Promise.all([
    readCounters(
      sql,
      { tenant, now },
      agents.data.map(({ id }) => id),
    ),
    readWalletBalances(
      sql,
      tenant,
      agents.data.map(({ walletId }) => walletId),
    ),
    em.find(Policy, { agentId: { $in: agents.data.map(({ id }) => id) }, deletedAt: null }),
  ])
  const policyOf = new Map(policies.map(policy => [policy.agentId, policy]))
  return {
    ...agents,
    data: agents.data.map(({ id, name, status, policyId, walletId }) => {
      const [{ lastSpendAt }, day, month] = counters.today(id)
      const policy = policyOf.get(id)
      const balance = balances.get(walletId)
      return {
        id,
        name,
        status,
        policyId,
        walletId,
        availableCents: balance?.availableCents ?? NO_CENTS,
        heldCents: balance?.heldCents ?? NO_CENTS,
        day: usedOf(day, policy?.dailyLimitCents ?? null),
        month: usedOf(month, policy?.monthlyLimitCents ?? null),
        lastSpendAt,
      }
    }),
  }
}

const usedOf = ({ reserved: heldCents, spent: spentCents }: Used, limitCents: Cents | null) => ({
  limitCents,
  heldCents,
  spentCents,
  remainingCents:
    limitCents === null ? null : remainingLimit({ limit: limitCents, used: addCents(heldCents, spentCents) }),
})

/**
 * Rows that the first query of a page reads. The lists of a policy can be long, so few are read until their
 * size is known.
 */
const FIRST_ROWS = 4

const contractRecord = (policy: Policy) => withMembers(policy, { agentId: policy.agentId ?? undefined })

const policyHandlers = bindHandlers(policiesApi, {
  async create({ body }, context) {
    const problem = await refuseSteps(body, [], context)
    if (problem) return context.refuse(...problem)
    const policy = context.em.create(Policy, body)
    recordPolicyVersion(policy, context)
    context.emit('policy.created', policyEvent(policy))
    return contractRecord(policy)
  },

  list({ query: { kind, templateId } }, { page }) {
    const byKind = { template: { agentId: null }, agent: { agentId: { $ne: null } } }
    const where = {
      ...policyNotDeleted,
      ...(kind && byKind[kind]),
      ...(templateId === undefined ? {} : { templateId }),
    }
    return page(Policy, where, 'id', FIRST_ROWS)
  },

  presets: (_, { pageOf }) => pageOf(policyPresets),

  preset: ({ params }, { refuse }) =>
    policyPresets.find(preset => preset.id === params.presetId) ?? refuse('preset_not_found'),

  async get({ params }, { em, refuse }) {
    return (await findPolicy(em, params.id)) ?? refuse('policy_not_found')
  },

  async replace({ params, body: { version, webauthnAssertion, ...body } }, context) {
    const rules = pickPolicyRules(body)
    const write = {
      operation: 'policies.replace' as const,
      policyId: params.id,
      rules: encodePolicyRules(rules),
    }
    const hold = holdPolicyWrite(write, webauthnAssertion, context)
    const done = await replaceRules({ policyId: params.id, rules, version }, hold, context)
    return isRefused(done) ? context.refuse(done[0], done[1]) : done
  },

  async delete({ params }, { em, now, emit, refuse }) {
    const policy = await lockPolicy(em, params.id)
    if (!policy) return refuse('policy_not_found')
    if (policy.agentId) return refuse('policy_assigned')
    policy.deletedAt = now
    emit('policy.deleted', policyEvent(policy))
  },

  async versions({ params }, { em, page, refuse }) {
    const policy = await em.findOne(Policy, { id: params.id })
    if (!policy) return refuse('policy_not_found')
    const versions = await page(PolicyVersion, { policyId: policy.id }, 'id', FIRST_ROWS)
    return { ...versions, data: await withPolicyChanges(em, versions.data) }
  },

  async apply({ params, body }, context) {
    const write = { operation: 'policies.apply' as const, policyId: params.id }
    const done = await applyTemplate(
      params.id,
      holdPolicyWrite(write, body.webauthnAssertion, context),
      context,
    )
    if (isRefused(done)) return context.refuse(done[0], done[1])
    if (!('template' in done)) return done
    const { template, copies } = done
    const agents = copies.flatMap(({ agentId, overrides: kept }) => (agentId ? { agentId, kept } : []))
    const agentIds = agents.map(({ agentId }) => agentId)
    return { policyId: template.id, version: template.version, agentIds, agents }
  },

  async assign({ params: { agentId }, body: { policyId: sourceId, webauthnAssertion } }, context) {
    const write = { operation: 'policies.assign' as const, agentId, sourceId }
    const done = await assignToAgent(write, holdPolicyWrite(write, webauthnAssertion, context), context)
    return isRefused(done) ? context.refuse(done[0], done[1]) : done
  },

  async effective({ params }, { em, refuse }) {
    if (!(await findAgent(em, params.agentId))) return refuse('agent_not_found')
    return (await effectivePolicy(em, params.agentId)) ?? refuse('no_policy_assigned')
  },

  async toggle({ params: { agentId }, body: { field, value, webauthnAssertion } }, context) {
    const write = { operation: 'policies.toggle' as const, agentId, field, value }
    const done = await toggleRule(write, holdPolicyWrite(write, webauthnAssertion, context), context)
    if (isRefused(done)) return context.refuse(done[0], done[1])
    return done instanceof Policy ? contractRecord(done) : done
  },
})

const policies = bindHandlers(
  { ...policiesApi, ...budgetApi, ...policySimulationApi, ...agentUsageApi },
  {
    ...policyHandlers.handlers,
    ...ownerBudgetHandlers.handlers,
    backtest: backtestPolicy,
    probe: probePolicy,
    usage,
  },
)

const expiry: Deadline = {
  process: agentProcess,
  table: 'policies',
  record: 'agent_id',
  agent: 'agent_id',
  due: 'expires_at',
  open: 'agent_id is not null and deleted_at is null and expired_at is null',
  waits: 'expires_at is not null',
  activities: ['expirePolicy'],
}

export const policiesArea = area(
  'Policies',
  'Spending policies: limits, allowlists, blocklists, hours, approvals; and the budget of all agents together.',
  policies,
  {
    personal: policiesPersonalData,
    steps: policySteps,
    entities: [Policy, PolicyVersion, StoredDecision, OwnerBudget],
    deadlines: [expiry],
    openRecords: [
      {
        process: agentProcess,
        select: `select agent_id as id, owner_id, mode, agent_id from policies where ${expiry.open} and ${expiry.waits}`,
      },
    ],
    reactions: { 'agent.created': onAgentCreated, 'agent.deleting': onAgentDeleting },
    answers: [templateOfNewAgent, stepsOfPolicies],
  },
)
