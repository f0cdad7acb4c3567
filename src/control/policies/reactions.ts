import { reaction } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { AgentCreated, AgentEvent, findAgent, lockAgent } from '../agents/index.ts'
import { policiesApi } from './api.ts'
import { about, assignTo, lockPolicy, sourceOf } from './policy-versioning.ts'
import { PolicyEvent } from './schemas.ts'

/** An agent that was created with a template gets its copy in the same transaction. */
export const onAgentCreated = reaction(
  AgentCreated,
  { 'policy.assigned': PolicyEvent },
  async ({ agentId, policyId }, context) => {
    if (!policyId) return
    const agent = await lockAgent(context.em, agentId)
    const source = await sourceOf(context.em, policyId)
    if (!agent || typeof source === 'string')
      throw new Problem('unknown_reference', 'policyId: no such policy template, and no preset of this name.')
    context.emit('policy.assigned', about(await assignTo(agent, source, context)))
  },
)

/** The policy of an agent goes before it does: neither its end nor a template's changes reach it any more. */
export const onAgentDeleting = reaction(
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
