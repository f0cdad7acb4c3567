import type { EntityManager } from '@mikro-orm/postgresql'
import type { Context } from '../../kernel/contract/context.ts'
import { lock } from '../../kernel/database/entity.ts'
import { excerpt } from '../../values/schemas.ts'
import type { Agent } from '../agents/index.ts'
import { agentProcess } from '../agents/process.ts'
import { presetOf, rulesOf, rulesOnRecord } from '../rules/index.ts'
import { Policy, PolicyVersion, type Source } from './policy.ts'

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

/** What can be assigned: by the name of a preset, or by the id of a template, which stays locked. */
export async function sourceOf(
  em: EntityManager,
  name: string,
): Promise<Source | 'policy_not_found' | 'not_a_template'> {
  const preset = presetOf(name)
  if (preset) return { id: null, rules: preset.policy }
  const template = await lockPolicy(em, name)
  if (!template) return 'policy_not_found'
  return template.agentId ? 'not_a_template' : { id: template.id, rules: rulesOf(template) }
}

/** The policy an agent spends under. */
export const effectivePolicy = (em: EntityManager, agentId: string): Promise<Policy | null> =>
  em.findOne(Policy, { agentId, ...standing })

/** Gives the agent a copy of its own, or turns the one it has into a copy of this template. */
export async function assignTo(
  agent: Agent,
  source: Source,
  context: Changing & { now: Date },
): Promise<Policy> {
  const { em, now } = context
  const own = await effectivePolicy(em, agent.id)
  own?.copyFrom(source, now, now)
  const provenance = { agentId: agent.id, templateId: source.id, assignedAt: now }
  const policy = own ?? em.create(Policy, { ...source.rules, ...provenance })
  policy.schedule(now)
  agent.policyId = policy.id
  keepVersion(policy, context)
  return policy
}
