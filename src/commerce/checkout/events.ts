import type { CheckoutSession } from './session.ts'

/** The data of a session's event. */
export const sessionEvent = ({ id, agentId, intentId, cardId, merchantHost, status }: CheckoutSession) => ({
  checkoutSessionId: id,
  agentId,
  intentId,
  cardId,
  merchantHost,
  status,
})
