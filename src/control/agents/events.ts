import { excerpt } from '../../values/schemas.ts'
import type { Agent } from './agent.ts'

/** What the world is told of an agent. */
export const agentEvent = (agent: Pick<Agent, 'id' | 'status' | 'frozenReason'>) => ({
  agentId: agent.id,
  status: agent.status,
  ...(agent.frozenReason ? { reason: excerpt(agent.frozenReason) } : {}),
})
