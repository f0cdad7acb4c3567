import type { AuthorizationRequest, CardFact, MessageContent } from '../../ports/card-processor.ts'
import type { Cents } from '../../values/money.ts'
import { type Authorization, type Event, type Moved, merchantOf } from './event.ts'

interface Link {
  readonly authorizationId: string | null
  readonly final: boolean
}

/** Money that left, told as a positive amount. */
const clearingOf = (transaction: Moved, { authorizationId, final }: Link): CardFact => ({
  kind: 'clearing',
  clearingId: transaction.id,
  authorizationId,
  amountCents: -transaction.amount,
  final,
  merchant: merchantOf(transaction),
})

/**
 * The sign says which way the money went: a reversed refund is one of type `refund` that takes money again. Whether a
 * clearing is the last of its authorization only the authorization knows, and says when it closes.
 */
export function factOf(transaction: Moved, authorizationId: string | null): CardFact | null {
  const { id, amount } = transaction
  if (amount < 0n) return clearingOf(transaction, { authorizationId, final: false })
  if (amount === 0n) return null
  return {
    kind: 'refund',
    refundId: id,
    authorizationId,
    amountCents: amount,
    merchant: merchantOf(transaction),
  }
}

/** The question that waits for an answer. */
export function requestOf(authorization: Authorization): AuthorizationRequest | null {
  const { id, pending_request: asked, request_history } = authorization
  if (!asked) return null
  return {
    kind: 'authorization',
    authorizationId: id,
    ask: request_history.length,
    amountCents: asked.amount,
    partialAllowed: asked.is_amount_controllable,
    merchant: merchantOf(authorization),
  }
}

/**
 * One change is one message, chosen by what the event says of itself alone: so it does not matter in which order events come.
 * A change of anything else tells the outcome again.
 */
export function changeOf(
  authorization: Authorization,
  before: Event['data']['previous_attributes'],
): MessageContent | null {
  const { id, status, request_history } = authorization
  if (!request_history.some(({ approved }) => approved)) return outcomeOf(authorization)
  if (status === 'reversed') return { kind: 'reversal', authorizationId: id, amountCents: null }
  if (status === 'expired') return { kind: 'expiry', authorizationId: id }
  if (status === 'closed') return lastClearingOf(authorization) ?? outcomeOf(authorization)
  return partialReversalOf(authorization, before) ?? outcomeOf(authorization)
}

/**
 * A closed authorization gets no more clearings: the last of them is told again, as the final one, which gives back the rest
 * of the hold. Without any it is not certain that none follows, and the hold stays until it expires.
 */
function lastClearingOf(authorization: Authorization): CardFact | null {
  const last = authorization.transactions.filter(({ amount }) => amount < 0n).at(-1)
  return last ? clearingOf(last, { authorizationId: authorization.id, final: true }) : null
}

/** The merchant has given a part back: the amount has fallen, and neither a request nor a clearing did that. */
function partialReversalOf(
  { id, amount }: Authorization,
  before: Event['data']['previous_attributes'],
): CardFact | null {
  const { amount: earlier, request_history: requests, transactions } = before
  if (!Number.isSafeInteger(earlier) || requests !== undefined || transactions !== undefined) return null
  const fallen = BigInt(earlier as number) - amount
  return fallen > 0n ? { kind: 'reversal', authorizationId: id, amountCents: fallen } : null
}

/** Stripe's word about each request, whoever has decided: we, its settings, or the network in its place. */
export function outcomeOf(authorization: Authorization): CardFact | null {
  const { id, request_history, metadata } = authorization
  if (request_history.length === 0) return null
  const inTime = [...request_history].sort((one, other) => one.created - other.created)
  const asks = inTime.map(({ amount, approved }, ask) => ({
    amountCents: approved ? lesser(amount, metadata[partOf(ask)]) : amount,
    approved,
  }))
  return { kind: 'outcome', authorizationId: id, asks, merchant: merchantOf(authorization) }
}

/** Stripe's history holds what was asked for. A part that we approved is written beside it, in the metadata. */
export const partOf = (ask: number): string => `approved_cents_${ask}`

function lesser(asked: Cents, part: string | undefined): Cents {
  const approved = part && /^\d{1,15}$/.test(part) ? BigInt(part) : asked
  return approved < asked ? approved : asked
}
