import { reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { RecordReader, Records } from '../../kernel/contract/records.ts'
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
export function recordPolicyVersion(policy: Policy, { records, actor, wake }: WriteContext): void {
  records.create(PolicyVersion, {
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

export const findPolicy = (records: RecordReader, id: string): Promise<Policy | null> =>
  records.findOne(Policy, { id, ...policyNotDeleted })

export async function lockPolicy(records: Records, id: string): Promise<Policy | null> {
  const policy = await records.lock(Policy, id)
  return policy?.deletedAt ? null : policy
}

export async function findPolicySource(
  records: Records,
  name: string,
): Promise<PolicySource | 'policy_not_found' | 'not_a_template'> {
  const preset = findPreset(name)
  if (preset) return { id: null, rules: preset.policy }
  const template = await lockPolicy(records, name)
  if (!template) return 'policy_not_found'
  return template.agentId ? 'not_a_template' : { id: template.id, rules: pickPolicyRules(template) }
}

export const effectivePolicy = (records: RecordReader, agentId: string): Promise<Policy | null> =>
  records.findOne(Policy, { agentId, ...policyNotDeleted })

/** Gives the agent a policy of its own, or turns the existing one into a copy of the source. */
export async function assignPolicy(
  agent: Agent,
  source: PolicySource,
  context: WriteContext & { now: Date },
): Promise<Policy> {
  const { records, now } = context
  const current = await effectivePolicy(records, agent.id)
  current?.copyFrom(source, now, now)
  const provenance = { agentId: agent.id, templateId: source.id, assignedAt: now }
  const policy = current ?? records.create(Policy, { ...source.rules, ...provenance })
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
    const source = await findPolicySource(context.records, policyId)
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
  async ({ agentId }, { em, records, now, emit }) => {
    const agent = await findAgent(em, agentId)
    const policy = agent?.policyId ? await lockPolicy(records, agent.policyId) : null
    if (!policy) return
    policy.deletedAt = now
    emit('policy.deleted', policyEvent(policy))
  },
)
