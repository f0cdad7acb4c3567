import { reaction } from '../../kernel/contract/area.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { AgentCreated, AgentEvent, findAgent, lockAgent } from '../agents/index.ts'
import { policiesApi } from './api.ts'
import { assignPolicy, findSource, lockPolicy, policyEvent } from './policy-versioning.ts'
import { PolicyEvent } from './schemas.ts'

/** Gives a new agent its copy of the template that it was created with, in the same transaction. */
export const onAgentCreated = reaction(
  AgentCreated,
  { 'policy.assigned': PolicyEvent },
  async ({ agentId, policyId }, context) => {
    if (!policyId) return
    const agent = await lockAgent(context.records, agentId)
    const source = await findSource(context.records, policyId)
    if (!agent || typeof source === 'string')
      throw new Problem('unknown_reference', 'policyId: no such policy template, and no preset of this name.')
    const policy = await assignPolicy(agent, source, context)
    context.emit('policy.assigned', policyEvent(policy))
  },
)

/** Deletes the policy of an agent that is being deleted, so that neither its end nor its template changes it any more. */
export const onAgentDeleting = reaction(
  AgentEvent,
  policiesApi.delete.emits,
  async ({ agentId }, { records, now, emit }) => {
    const agent = await findAgent(records, agentId)
    const policy = agent?.policyId ? await lockPolicy(records, agent.policyId) : null
    if (!policy) return
    policy.deletedAt = now
    emit('policy.deleted', policyEvent(policy))
  },
)
