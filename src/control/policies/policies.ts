import { LockMode } from '@mikro-orm/core'
import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { readWalletBalances } from '../../money/ledger/index.ts'
import { addCents, type Cents, NO_CENTS } from '../../values/money.ts'
import { Agent, findAgent, lockAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { readApprovers, tooFewApprovers } from '../approvals/index.ts'
import {
  type BudgetCounters,
  budgetApi,
  OwnerBudget,
  ownerBudgetHandlers,
  readCounters,
} from '../budgets/index.ts'
import { StoredDecision } from '../decisions/index.ts'
import { type PolicyRules, pickPolicyRules, policyPresets, remainingLimit } from '../rules/index.ts'
import { policiesApi, policySteps } from './api.ts'
import { backtestPolicy } from './backtest.ts'
import { Policy, PolicyVersion, policiesPersonalData } from './policy.ts'
import {
  assignPolicy,
  effectivePolicy,
  findPolicy,
  findPolicySource,
  lockPolicy,
  onAgentCreated,
  onAgentDeleting,
  policyEvent,
  policyNotDeleted,
  recordPolicyVersion,
} from './policy-versioning.ts'
import { probePolicy } from './probe.ts'
import { policySimulationApi } from './simulation-api.ts'
import { agentUsageApi } from './usage-api.ts'
import { withPolicyChanges } from './versions.ts'
import { templateOfNewAgent, wideningsOfAssignment, wideningsOfPolicies } from './widening.ts'

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

/** A policy asks no more people than there are. */
const tooFewFor = async (
  { approval }: Pick<PolicyRules, 'approval'>,
  { sql, tenant }: ReadContext,
): Promise<string | undefined> =>
  approval.length > 0 ? tooFewApprovers(approval, await readApprovers(sql, tenant)) : undefined

const policyHandlers = bindHandlers(policiesApi, {
  async create({ body }, context) {
    const few = await tooFewFor(body, context)
    if (few) return context.refuse('too_few_approvers', few)
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
    const { em, now, emit, refuse } = context
    const policy = await lockPolicy(em, params.id)
    if (!policy) return refuse('policy_not_found')
    if (version !== undefined && version !== policy.version) return refuse('version_conflict')
    const rules = pickPolicyRules(body)
    const few = await tooFewFor(rules, context)
    if (few) return refuse('too_few_approvers', few)
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => wideningsOfPolicies([[policy, rules]], em),
      context,
    )
    if (unsigned) return unsigned
    policy.changeRules(rules, now)
    recordPolicyVersion(policy, context)
    emit('policy.updated', policyEvent(policy))
    return policy
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
    const { em, now, emit, refuse } = context
    const templateAndCopies = { $or: [{ id: params.id }, { templateId: params.id }], ...policyNotDeleted }
    const locked = await em.find(Policy, templateAndCopies, {
      orderBy: { id: 'asc' },
      lockMode: LockMode.PESSIMISTIC_WRITE,
    })
    const template = locked.find(({ id }) => id === params.id)
    if (!template) return refuse('policy_not_found')
    if (template.agentId) return refuse('not_a_template')
    const copies = locked.filter(copy => copy !== template)
    const source = { id: template.id, rules: pickPolicyRules(template) }
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () =>
        wideningsOfPolicies(
          copies.map(copy => [copy, copy.rulesAsCopyOf(source)]),
          em,
        ),
      context,
    )
    if (unsigned) return unsigned
    for (const copy of copies) {
      copy.copyFrom(source, copy.assignedAt ?? now, now)
      recordPolicyVersion(copy, context)
      emit('policy.updated', policyEvent(copy))
    }
    emit('policy.applied', policyEvent(template))
    const agents = copies.flatMap(({ agentId, overrides: kept }) => (agentId ? { agentId, kept } : []))
    const agentIds = agents.map(({ agentId }) => agentId)
    return { policyId: template.id, version: template.version, agentIds, agents }
  },

  async assign({ params, body }, context) {
    const { em, emit, refuse } = context
    const agent = await lockAgent(em, params.agentId)
    if (!agent) return refuse('agent_not_found')
    const source = await findPolicySource(em, body.policyId)
    if (typeof source === 'string') return refuse(source)
    const few = await tooFewFor(source.rules, context)
    if (few) return refuse('too_few_approvers', few)
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      async () => wideningsOfAssignment(agent, await effectivePolicy(em, agent.id), source),
      context,
    )
    if (unsigned) return unsigned
    const policy = await assignPolicy(agent, source, context)
    emit('policy.assigned', policyEvent(policy))
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
    const rules = { ...pickPolicyRules(policy), [body.field]: body.value }
    const unsigned = await refuseUnsignedWidening(
      body.webauthnAssertion,
      () => wideningsOfPolicies([[policy, rules]], em),
      context,
    )
    if (unsigned) return unsigned
    policy.toggle(body.field, body.value, now)
    recordPolicyVersion(policy, context)
    emit('policy.updated', policyEvent(policy))
    return contractRecord(policy)
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
    answers: [templateOfNewAgent],
  },
)
