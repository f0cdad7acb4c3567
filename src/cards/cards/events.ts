import { excerpt } from '../../values/schemas.ts'
import type { Card } from './card.ts'

/** The data of a card's event. */
export const cardEvent = (
  { id, agentId, intentId, status, last4 }: Pick<Card, 'id' | 'agentId' | 'intentId' | 'status' | 'last4'>,
  reason?: string | null,
) => ({
  cardId: id,
  agentId,
  ...(intentId ? { intentId } : {}),
  status,
  last4,
  ...(reason ? { reason: excerpt(reason) } : {}),
})
