import type { AuthorizationRequest, CardFact, CardMessageContent } from '../../../ports/card-processor.ts'
import { type Cents, cents, minOf, negateCents, subtractCents } from '../../../values/money.ts'
import {
  cardMerchantFromStripe,
  originalFromStripe,
  type StripeAuthorization,
  type StripeEvent,
  type StripeMovement,
} from './event.ts'

interface Link {
  readonly authorizationId: string | null
  readonly final: boolean
}

const clearingOf = (transaction: StripeMovement, { authorizationId, final }: Link): CardFact => ({
  kind: 'clearing',
  clearingId: transaction.id,
  authorizationId,
  amountCents: negateCents(transaction.amount),
  final,
  merchant: cardMerchantFromStripe(transaction),
  original: originalFromStripe(transaction),
})

/**
 * The sign gives the direction: a reversed refund has the type `refund` and takes money again. Only the
 * authorization knows whether a clearing is its last, and reports it when it closes.
 */
export function cardFactFromTransaction(
  transaction: StripeMovement,
  authorizationId: string | null,
): CardFact | null {
  const { id, amount } = transaction
  if (amount < 0n) return clearingOf(transaction, { authorizationId, final: false })
  if (amount === 0n) return null
  return {
    kind: 'refund',
    refundId: id,
    authorizationId,
    amountCents: amount,
    merchant: cardMerchantFromStripe(transaction),
    original: originalFromStripe(transaction),
  }
}

export function pendingAuthorizationRequest(authorization: StripeAuthorization): AuthorizationRequest | null {
  const { id, pending_request: asked, request_history } = authorization
  if (!asked) return null
  return {
    kind: 'authorization',
    authorizationId: id,
    ask: request_history.length,
    amountCents: asked.amount,
    partialAllowed: asked.is_amount_controllable,
    merchant: cardMerchantFromStripe(authorization),
    original: originalFromStripe(asked),
  }
}

/**
 * One change becomes one message, derived from the event alone, so the order of events does not matter. Any
 * other change reports the outcome again.
 */
export function messageFromUpdate(
  authorization: StripeAuthorization,
  before: StripeEvent['data']['previous_attributes'],
): CardMessageContent | null {
  const { id, status, request_history } = authorization
  if (!request_history.some(({ approved }) => approved)) return authorizationOutcome(authorization)
  if (status === 'reversed') return { kind: 'reversal', authorizationId: id, amountCents: null }
  if (status === 'expired') return { kind: 'expiry', authorizationId: id }
  if (status === 'closed') return lastClearingOf(authorization) ?? authorizationOutcome(authorization)
  return partialReversalOf(authorization, before) ?? authorizationOutcome(authorization)
}

/**
 * A closed authorization gets no more clearings: its last one is reported again, as the final one, which
 * releases the rest of the hold. Without any clearing one may still follow, so the hold stays until it
 * expires.
 */
function lastClearingOf(authorization: StripeAuthorization): CardFact | null {
  const last = authorization.transactions.filter(({ amount }) => amount < 0n).at(-1)
  return last ? clearingOf(last, { authorizationId: authorization.id, final: true }) : null
}

/** A partial reversal: the amount has decreased without a request or a clearing. */
function partialReversalOf(
  { id, amount }: StripeAuthorization,
  before: StripeEvent['data']['previous_attributes'],
): CardFact | null {
  const { amount: earlier, request_history: requests, transactions } = before
  if (!Number.isSafeInteger(earlier) || requests !== undefined || transactions !== undefined) return null
  const fallen = subtractCents(cents(earlier as number), amount)
  return fallen > 0n ? { kind: 'reversal', authorizationId: id, amountCents: fallen } : null
}

/** Stripe's result for each request, whether decided by this service, by Stripe's settings, or by the network. */
export function authorizationOutcome(authorization: StripeAuthorization): CardFact | null {
  const { id, request_history, metadata } = authorization
  if (request_history.length === 0) return null
  const inTime = [...request_history].sort((one, other) => one.created - other.created)
  const asks = inTime.map(({ amount, approved, ...ofMerchant }, ask) => ({
    amountCents: approved ? approvedPart(amount, metadata[approvedCentsMetadataKey(ask)]) : amount,
    approved,
    original: originalFromStripe(ofMerchant),
  }))
  return { kind: 'outcome', authorizationId: id, asks, merchant: cardMerchantFromStripe(authorization) }
}

/** Stripe's history has only requested amounts, so a partly approved amount is stored in the metadata. */
export const approvedCentsMetadataKey = (ask: number): string => `approved_cents_${ask}`

function approvedPart(asked: Cents, part: string | undefined): Cents {
  const approved = part && /^\d{1,15}$/.test(part) ? cents(part) : asked
  return minOf(approved, asked)
}
