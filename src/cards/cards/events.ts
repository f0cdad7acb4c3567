import { excerpt } from '../../values/schemas.ts'
import type { Card } from './card.ts'

/** The data of a card's event. */
export const cardEvent = (
  {
    id,
    agentId,
    intentId,
    requestId,
    status,
    last4,
  }: Pick<Card, 'id' | 'agentId' | 'intentId' | 'requestId' | 'status' | 'last4'>,
  reason?: string | null,
) => ({
  cardId: id,
  agentId,
  ...(intentId ? { intentId } : {}),
  ...(requestId ? { requestId } : {}),
  status,
  last4,
  ...(reason ? { reason: excerpt(reason) } : {}),
})
