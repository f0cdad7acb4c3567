import { oneOf, type Records } from '../../kernel/contract/records.ts'
import type { StatedWidening } from '../../statements/index.ts'
import { Agent, wideningsOfAgent } from '../agents/index.ts'
import { noPolicyRules, type PolicyRules, pickPolicyRules, policyWidenings } from '../rules/index.ts'
import type { Policy, PolicySource } from './policy.ts'

/** A template approves no spend: its agents get its rules by `apply`. */
export async function wideningsOfPolicies(
  changed: readonly (readonly [policy: Policy, rules: PolicyRules])[],
  records: Records,
): Promise<StatedWidening[]> {
  const widened = changed.flatMap(([policy, rules]) => {
    const changes = policy.agentId ? policyWidenings(pickPolicyRules(policy), rules) : []
    return changes.length > 0 ? [{ agentId: policy.agentId, changes }] : []
  })
  const ids = widened.flatMap(({ agentId }) => agentId ?? [])
  const agents = await records.find(Agent, { id: oneOf(ids) })
  const byId = new Map(agents.map(agent => [agent.id, agent]))
  return widened.flatMap(({ agentId, changes }) => {
    const agent = byId.get(String(agentId))
    return agent ? wideningsOfAgent(agent, changes) : []
  })
}

/** Assigned anew, a policy begins to count payments and minutes from nothing. */
const restart = ({ assignedAt, expiresAfterMinutes, maxUsageCount }: Policy) =>
  assignedAt && (expiresAfterMinutes !== null || maxUsageCount !== null)
    ? [{ field: 'Beginning of the policy', from: assignedAt.toISOString(), to: 'now' }]
    : []

export const wideningsOfAssignment = (
  agent: Agent,
  current: Policy | null,
  source: PolicySource,
): StatedWidening[] =>
  wideningsOfAgent(
    agent,
    current
      ? [...policyWidenings(pickPolicyRules(current), current.rulesAsCopyOf(source)), ...restart(current)]
      : policyWidenings(noPolicyRules, source.rules),
  )
