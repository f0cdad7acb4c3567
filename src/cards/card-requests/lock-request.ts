import { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type LockedCard, lockCard } from '../cards/index.ts'
import { CardRequest } from './card-request.ts'

/** A request with all that its answer depends on, locked until the transaction ends. */
export interface LockedRequest {
  readonly request: CardRequest
  readonly agent: Agent
  /** The card whose limits are to change; null for a new one. */
  readonly locked: LockedCard | null
}

/** Locks the agent first, as everything that changes cards does, then the card, then the request. */
export async function lockRequest(
  id: string,
  context: Pick<Context, 'records' | 'tenant'>,
): Promise<LockedRequest | null> {
  const { records } = context
  // Whose request it is, and for which card, never changes.
  const known = await records.findOne(CardRequest, { id })
  if (!known) return null
  const { agentId, type, cardId } = known
  const [agent, locked, request] = await Promise.all([
    records.lock(Agent, agentId),
    type === 'limit_change' && cardId ? lockCard(cardId, context) : null,
    records.lock(CardRequest, id),
  ])
  return agent && request && { request, agent, locked }
}
