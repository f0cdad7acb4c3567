import type { Cause } from '../../money/ledger/index.ts'
import type { Payment } from './payment.ts'
import { foldFacts } from './state.ts'

type Referenced = Pick<Payment, 'id' | 'intentId' | 'facts'>

/** Each approval holds and reserves under its own reference, since a hold never grows. */
export const incrementReference = (paymentId: string, increment: number): Cause => ({
  type: 'card_ask',
  id: `${paymentId}:${increment}`,
})

export const overClearingReference = (paymentId: string): Cause => ({ type: 'card_payment', id: paymentId })

/**
 * For the amount cleared without an approval. A payment that this service began is reserved under it from its
 * request on.
 */
export const unauthorizedClearingReference = (paymentId: string): Cause => ({
  type: 'card_alone',
  id: paymentId,
})

/** Counts only towards the card's limits, since the payment may lose its intent to another payment. */
export const intentCoveredReference = ({ type, id }: Cause): Cause => ({ type: `${type}_covered`, id })

export const intentReference = (intentId: string): Cause => ({ type: 'intent', id: intentId })

const incrementReferences = ({ id, facts }: Referenced): Cause[] =>
  foldFacts(facts).approvals.map(({ increment }) => incrementReference(id, increment))

export const holdReferences = (payment: Referenced): Cause[] => [
  ...incrementReferences(payment),
  ...(payment.intentId ? [intentReference(payment.intentId)] : []),
]

export function reservationReferences(payment: Referenced): Cause[] {
  const { id, intentId } = payment
  const own = [...incrementReferences(payment), overClearingReference(id), unauthorizedClearingReference(id)]
  return intentId ? [...own, ...own.map(intentCoveredReference), intentReference(intentId)] : own
}
