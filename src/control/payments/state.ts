import { type Cents, cents, minOf, NO_CENTS, remainderOf, sumOf } from '../../values/money.ts'
import { type OriginalAmount, sumOriginals } from '../../values/original-amount.ts'
import { type AuthRequest, decodeAuthRequests, type PaymentFacts } from './facts.ts'

type Approval = Pick<AuthRequest, 'increment' | 'approvedCents' | 'original'>

export interface PaymentState {
  readonly approvals: readonly Approval[]
  readonly requestedCents: Cents
  readonly approvedCents: Cents
  readonly heldCents: Cents
  readonly capturedCents: Cents
  readonly clearedCents: Cents
  readonly refundedCents: Cents
  /** The amount that the owner keeps from decided disputes. */
  readonly creditedCents: Cents
  readonly confirmedCents: Cents | null
  /** May still be spent, since the outcome of a payment that this service began is unknown. */
  readonly pendingCents: Cents
  /** Zero if the network or the payee stated the payment first. */
  readonly initiatedCents: Cents
  /** Whether this service began the payment, before the network or the payee reported it. */
  readonly isSelfInitiated: boolean
  /** Only a refund is known: money returned for an unknown payment. */
  readonly isRefundOnly: boolean
  /** Nothing more is held for it. A later clearing is booked anyway. */
  readonly isClosed: boolean
  readonly isReversed: boolean
  readonly isNotPaid: boolean
  /** What the merchant takes, in its currency; null for euros, or if it is unknown. */
  readonly original: OriginalAmount | null
  readonly refundedOriginal: OriginalAmount | null
}

const sumOfFacts = (facts: readonly { readonly amount: string }[]): Cents =>
  sumOf(facts.map(({ amount }) => cents(amount)))

function approvalsOf({ outcome }: PaymentFacts, requests: readonly AuthRequest[]): Approval[] {
  const ours = requests.filter(({ increment }) => increment >= outcome.length)
  return [
    ...outcome.map(({ amount, approved, original }, increment) => ({
      increment,
      approvedCents: approved ? cents(amount) : NO_CENTS,
      original,
    })),
    ...ours.map(({ increment, approvedCents, original }) => ({ increment, approvedCents, original })),
  ]
}

function reversalOf({ reversals }: PaymentFacts, approvedCents: Cents) {
  const isWhole = reversals.some(({ amount }) => amount === null)
  const partial = sumOf(reversals.map(({ amount }) => cents(amount ?? '0')))
  const reversedCents = isWhole ? approvedCents : partial
  return { reversedCents, isReversed: isWhole || (approvedCents > 0n && reversedCents >= approvedCents) }
}

/** What was cleared counts, else what was authorized, else what this service began the payment for. */
function originalsOf(
  { clearings, refunds, begunOriginal }: PaymentFacts,
  approvals: readonly Approval[],
  isRefundOnly: boolean,
) {
  const approved = approvals.filter(({ approvedCents }) => approvedCents > 0n)
  const asked = approved.length > 0 ? approved : approvals
  const refundedOriginal = originalOf(refunds)
  return {
    original:
      originalOf(clearings) ??
      originalOf(asked) ??
      (isRefundOnly ? refundedOriginal : (begunOriginal ?? null)),
    refundedOriginal,
  }
}

const originalOf = (facts: readonly Pick<Approval, 'original'>[]): OriginalAmount | null =>
  sumOriginals(facts.map(({ original }) => original))

/** Depends on the set of facts, not on the order of their arrival. */
export function foldPaymentFacts(facts: PaymentFacts): PaymentState {
  const requests = decodeAuthRequests(facts)
  const approvals = approvalsOf(facts, requests)
  const approvedCents = sumOf(approvals.map(approval => approval.approvedCents))
  const { reversedCents, isReversed } = reversalOf(facts, approvedCents)
  const clearedCents = sumOfFacts(facts.clearings)
  const refundedCents = sumOfFacts(facts.refunds)
  const initiatedCents = cents(facts.begun ?? '0')
  const confirmedCents = facts.confirmed === null ? null : cents(facts.confirmed)
  const isNotPaid = facts.notPaid === true && confirmedCents === null && approvedCents === 0n
  const isClosed = facts.expired || isNotPaid || isReversed || facts.clearings.some(({ final }) => final)
  const isAwaited = !isClosed && confirmedCents !== null && confirmedCents > clearedCents
  const capturedCents = isAwaited ? confirmedCents : clearedCents
  const isAnswered = requests.length + facts.outcome.length > 0 || confirmedCents !== null
  const isRefundOnly =
    facts.refunds.length > 0 && !isAnswered && facts.clearings.length === 0 && facts.begun === undefined
  return {
    approvals,
    requestedCents: sumOf(requests.map(one => one.requestedCents)),
    approvedCents,
    heldCents: isClosed ? NO_CENTS : remainderOf(remainderOf(approvedCents, reversedCents), capturedCents),
    capturedCents,
    clearedCents,
    refundedCents,
    creditedCents: sumOfFacts(facts.returned ?? []),
    confirmedCents,
    pendingCents: isClosed || isAnswered ? NO_CENTS : remainderOf(initiatedCents, clearedCents),
    initiatedCents,
    isSelfInitiated: facts.begun !== undefined,
    isRefundOnly,
    isClosed,
    isReversed,
    isNotPaid,
    ...originalsOf(facts, approvals, isRefundOnly),
  }
}

export interface ApprovalShare extends Approval {
  readonly capturedCents: Cents
  readonly heldCents: Cents
}

/**
 * Divides a state among its approvals: captures fill the first ones, holds the last ones. A hold therefore
 * never grows, and a later approval has a hold of its own.
 */
export function splitByApproval({
  approvals,
  capturedCents,
  heldCents,
}: Pick<PaymentState, 'approvals' | 'capturedCents' | 'heldCents'>): ApprovalShare[] {
  let captured = capturedCents
  const paid = approvals.map(approval => {
    const part = minOf(captured, approval.approvedCents)
    captured = remainderOf(captured, part)
    return { ...approval, capturedCents: part }
  })
  let held = heldCents
  return paid
    .toReversed()
    .map(share => {
      const part = minOf(held, remainderOf(share.approvedCents, share.capturedCents))
      held = remainderOf(held, part)
      return { ...share, heldCents: part }
    })
    .toReversed()
}
