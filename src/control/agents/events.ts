import { excerpt } from '../../values/schemas.ts'
import type { Agent } from './agent.ts'

/** The data of an agent's event. */
export const agentEvent = (agent: Pick<Agent, 'id' | 'status' | 'frozenReason'>) => ({
  agentId: agent.id,
  status: agent.status,
  ...(agent.frozenReason ? { reason: excerpt(agent.frozenReason) } : {}),
})
