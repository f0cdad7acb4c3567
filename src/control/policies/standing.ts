import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from '../../kernel/context.ts'
import { lock } from '../../kernel/record.ts'
import { excerpt } from '../../kernel/schemas.ts'
import type { Agent } from '../agents/agents.ts'
import { agentProcess } from '../agents/process.ts'
import { Policy, PolicyVersion } from './policy.ts'
import { rulesOf, rulesOnRecord } from './rules.ts'

export const standing = { deletedAt: null }

export const about = (policy: Policy) => ({
  policyId: policy.id,
  agentId: policy.agentId,
  templateId: policy.templateId,
  name: excerpt(policy.name),
  version: policy.version,
})

export type Changing = Pick<Context, 'em' | 'actor' | 'wake'>

/** Every state that a policy has had is kept; and an end that has moved is waited for anew. */
export function keepVersion(policy: Policy, { em, actor, wake }: Changing): void {
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

export const findPolicy = (em: EntityManager, id: string): Promise<Policy | null> =>
  em.findOne(Policy, { id, ...standing })

export async function lockPolicy(em: EntityManager, id: string): Promise<Policy | null> {
  const policy = await lock(em, Policy, id)
  return policy?.deletedAt ? null : policy
}

/** The policy an agent spends under. */
export const effectivePolicy = (em: EntityManager, agentId: string): Promise<Policy | null> =>
  em.findOne(Policy, { agentId, ...standing })

/** Gives the agent a copy of its own, or turns the one it has into a copy of this template. */
export async function assignTo(
  agent: Agent,
  template: Policy,
  context: Changing & { now: Date },
): Promise<Policy> {
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
