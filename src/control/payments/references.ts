import type { PostingCause } from '../../money/ledger/index.ts'
import type { Payment } from './payment.ts'
import { foldPaymentFacts } from './state.ts'

type Referenced = Pick<Payment, 'id' | 'intentId' | 'facts'>

/** Each approval holds and reserves under its own reference, since a hold never grows. */
export const incrementPostingReference = (paymentId: string, increment: number): PostingCause => ({
  type: 'card_ask',
  id: `${paymentId}:${increment}`,
})

export const overClearingPostingReference = (paymentId: string): PostingCause => ({
  type: 'card_payment',
  id: paymentId,
})

/**
 * For the amount cleared without an approval. A payment that this service began is reserved under it from its
 * request on.
 */
export const unauthorizedClearingPostingRef = (paymentId: string): PostingCause => ({
  type: 'card_alone',
  id: paymentId,
})

/** Counts only towards the card's limits, since the payment may lose its intent to another payment. */
export const intentCoveredPostingReference = ({ type, id }: PostingCause): PostingCause => ({
  type: `${type}_covered`,
  id,
})

/** For a confirmed price in another currency, until the network charges its euros. */
export const unchargedPostingReference = (paymentId: string): PostingCause => ({
  type: 'card_uncharged',
  id: paymentId,
})

export const intentHoldReference = (intentId: string): PostingCause => ({ type: 'intent', id: intentId })

const incrementReferences = ({ id, facts }: Referenced): PostingCause[] =>
  foldPaymentFacts(facts).approvals.map(({ increment }) => incrementPostingReference(id, increment))

export const paymentHoldReferences = (payment: Referenced): PostingCause[] => [
  ...incrementReferences(payment),
  ...(payment.facts.begunOriginal ? [unchargedPostingReference(payment.id)] : []),
  ...(payment.intentId ? [intentHoldReference(payment.intentId)] : []),
]

export function paymentReservationReferences(payment: Referenced): PostingCause[] {
  const { id, intentId } = payment
  const own = [
    ...incrementReferences(payment),
    overClearingPostingReference(id),
    unauthorizedClearingPostingRef(id),
  ]
  return intentId ? [...own, ...own.map(intentCoveredPostingReference), intentHoldReference(intentId)] : own
}
