import { reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { truncateText } from '../../values/schemas.ts'
import { type Agent, AgentCreated, AgentEvent, findAgent, lockAgent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { encodePolicyRules, findPreset, pickPolicyRules } from '../rules/index.ts'
import { policiesApi } from './api.ts'
import { Policy, type PolicySource, PolicyVersion } from './policy.ts'
import { PolicyEvent } from './schemas.ts'

export const policyNotDeleted = { deletedAt: null }

export const policyEvent = (policy: Policy) => ({
  policyId: policy.id,
  agentId: policy.agentId,
  templateId: policy.templateId,
  name: truncateText(policy.name),
  version: policy.version,
})

/** Stores the present state as a version, and wakes the agent's process if the policy has or had an end. */
export function recordPolicyVersion(policy: Policy, { em, actor, wake }: WriteContext): void {
  em.create(PolicyVersion, {
    policyId: policy.id,
    agentId: policy.agentId,
    version: policy.version,
    rules: encodePolicyRules(policy),
    changedByType: actor.type,
    changedById: actor.id,
  })
  if (policy.agentId && policy.needsProcess())
    wake(agentProcess, { id: policy.agentId, agentId: policy.agentId })
}

export const findPolicy = (em: EntityReader, id: string): Promise<Policy | null> =>
  em.findOne(Policy, { id, ...policyNotDeleted })

export async function lockPolicy(em: EntityManager, id: string): Promise<Policy | null> {
  const policy = await em.findOne(Policy, { id }, FOR_UPDATE)
  return policy?.deletedAt ? null : policy
}

export async function findPolicySource(
  em: EntityManager,
  name: string,
): Promise<PolicySource | 'policy_not_found' | 'not_a_template'> {
  const preset = findPreset(name)
  if (preset) return { id: null, rules: preset.policy }
  const template = await lockPolicy(em, name)
  if (!template) return 'policy_not_found'
  return template.agentId ? 'not_a_template' : { id: template.id, rules: pickPolicyRules(template) }
}

export const effectivePolicy = (em: EntityReader, agentId: string): Promise<Policy | null> =>
  em.findOne(Policy, { agentId, ...policyNotDeleted })

/** Gives the agent a policy of its own, or turns the existing one into a copy of the source. */
export async function assignPolicy(
  agent: Agent,
  source: PolicySource,
  context: WriteContext & { now: Date },
): Promise<Policy> {
  const { em, now } = context
  const current = await effectivePolicy(em, agent.id)
  current?.copyFrom(source, now, now)
  const provenance = { agentId: agent.id, templateId: source.id, assignedAt: now }
  const policy = current ?? em.create(Policy, { ...source.rules, ...provenance })
  policy.scheduleEnd(now)
  agent.policyId = policy.id
  recordPolicyVersion(policy, context)
  return policy
}

export const onAgentCreated = reaction(
  AgentCreated,
  { 'policy.assigned': PolicyEvent },
  async ({ agentId, policyId }, context) => {
    if (!policyId) return
    const agent = await lockAgent(context.em, agentId)
    const source = await findPolicySource(context.em, policyId)
    if (!agent || typeof source === 'string')
      throw new Problem('unknown_reference', 'policyId: no such policy template, and no preset of this name.')
    const policy = await assignPolicy(agent, source, context)
    context.emit('policy.assigned', policyEvent(policy))
  },
)

/**
 * Deletes the policy of an agent that is being deleted, so that neither its end nor its template changes it
 * any more.
 */
export const onAgentDeleting = reaction(
  AgentEvent,
  policiesApi.delete.emits,
  async ({ agentId }, { em, now, emit }) => {
    const agent = await findAgent(em, agentId)
    const policy = agent?.policyId ? await lockPolicy(em, agent.policyId) : null
    if (!policy) return
    policy.deletedAt = now
    emit('policy.deleted', policyEvent(policy))
  },
)
