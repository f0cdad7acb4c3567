import {
  type Channel,
  incrementReference,
  type PaymentFacts,
  type PaymentState,
} from '../../control/payments/index.ts'
import type { TransactionState } from '../../money/transactions/index.ts'
import { after, days } from '../../values/clock.ts'
import { type AuthorizationStatus, authorizationMachine } from './authorization.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import type { CardBatch } from './batch.ts'

/** The type under which refunds name the payment by card that they are of. */
export const REFUND_SOURCE = 'card_authorization'

/** How long the network keeps a hold, by the trade of the merchant. */
const HOLD_DAYS = 7
const LONG_HOLD_DAYS = 31
/** Lodging, cruises, car hire: single codes, and the ranges of hotels, airlines' hotels and car rentals. */
const isLongHeld = (mcc: string | null): boolean =>
  mcc !== null &&
  (/^(?:3[3-4]\d\d|3[5-9]\d\d)$/.test(mcc) || ['4411', '7011', '7012', '7512', '7513', '7519'].includes(mcc))

/** Payments by card, by network token (MPP) and by checkout: all of them are authorized and cleared by a card network. */
export const cardChannel: Channel<AuthorizationRow, CardBatch> = {
  clearing: 'clearing_cards',
  postings: {
    capture: 'card_capture',
    settle: 'card_settle',
    undo: 'card_undo',
    undoUnmatched: 'card_undo_unmatched',
    refund: 'card_refund',
    refundUnmatched: 'card_refund_unmatched',
  },
  holdReference: incrementReference,
  refunds: { way: 'card', origin: 'network', sourceType: REFUND_SOURCE },
  limitsOf,
  record(row, state, batch) {
    chargeToken(row, state, batch)
    recordState(row, state, batch)
  },
  transactionOf,
}

/** The intent counts for the agent itself. */
export function limitsOf({ agentId, cardId }: AuthorizationRow, hasIntent: boolean): string[] {
  const ofCard = cardId ? [cardId] : []
  return hasIntent ? ofCard : [agentId, ...ofCard]
}

/** Charges a network token with what it pays beyond the record, and gives back what it has not paid. */
function chargeToken(row: AuthorizationRow, state: PaymentState, { credentials, now }: CardBatch): void {
  if (row.networkTokenId === null) return
  const change = state.heldCents + state.capturedCents - row.heldEuros - row.capturedEuros
  const isIncrement = row.approvedEuros > 0n
  if (change > 0n) credentials.charge(row.networkTokenId, change, now, { isIncrement })
  if (change < 0n) credentials.giveBack(row.networkTokenId, -change, now)
}

function recordState(row: AuthorizationRow, state: PaymentState, { now, changed }: CardBatch): void {
  const { requestedCents, clearedCents, refundedCents, confirmedCents, pendingCents, heldCents } = state
  const isPartlyCleared = clearedCents > 0n && pendingCents > 0n
  const isAwaited = heldCents > 0n || state.capturedCents > clearedCents || isPartlyCleared
  const isOpen = !state.isOver && isAwaited
  row.declineReason = declineReasonOf(row, state)
  authorizationMachine.move(row, statusOf(state, row))
  Object.assign(row, {
    updatedAt: now,
    amountEuros:
      requestedCents || clearedCents || confirmedCents || BigInt(row.facts.begun ?? 0) || refundedCents,
    approvedEuros: state.approvedCents,
    heldEuros: heldCents,
    capturedEuros: state.capturedCents,
    clearedEuros: clearedCents,
    refundedEuros: refundedCents,
    expiresAt: isOpen ? (row.expiresAt ?? after(now, days(holdDays(row, state)))) : null,
  })
  if (!changed.newAuthorizations.has(row)) changed.authorizations.add(row)
}

const holdDays = ({ mcc }: AuthorizationRow, { confirmedCents }: PaymentState): number =>
  confirmedCents !== null || isLongHeld(mcc) ? LONG_HOLD_DAYS : HOLD_DAYS

function statusOf(
  state: PaymentState,
  { processorRef, declineReason }: Pick<AuthorizationRow, 'processorRef' | 'declineReason'>,
): AuthorizationStatus {
  const { clearedCents, refundedCents, approvedCents, confirmedCents, isOver, isReversed } = state
  if (refundedCents > 0n && refundedCents >= clearedCents) return 'refunded'
  if (clearedCents > 0n) return isOver || clearedCents >= approvedCents ? 'cleared' : 'authorized'
  if (isReversed) return 'reversed'
  if (state.isNotPaid) return declineReason === null ? 'void' : 'declined'
  if (isOver) return 'expired'
  if (state.pendingCents > 0n) return 'pending'
  if (confirmedCents !== null && (processorRef === null || approvedCents === 0n)) return 'confirmed'
  return approvedCents > 0n || declineReason === null ? 'authorized' : 'declined'
}

/** The processor's account of its answers overrides ours. */
function declineReasonOf(
  {
    facts: { outcome },
    declineReason,
  }: { readonly facts: PaymentFacts; readonly declineReason: string | null },
  { approvedCents }: PaymentState,
): string | null {
  if (outcome.length === 0) return declineReason
  if (approvedCents > 0n || outcome.some(({ approved }) => approved)) return null
  return declineReason ?? 'The card processor has declined it.'
}

const endedReasons: Readonly<Partial<Record<string, string>>> = {
  reversed: 'The merchant has given it back.',
  expired: 'The merchant has not collected it in time.',
  void: 'The machine payment has come to nothing.',
}

/** A machine payment that no one has stated to be paid has no transaction. */
const isUnconfirmed = ({ status, transactionId }: AuthorizationRow): boolean =>
  transactionId === null && (status === 'pending' || status === 'void')

type Shown = Omit<TransactionState, 'type' | 'intentId' | 'transferId'>

function transactionOf(row: AuthorizationRow, state: PaymentState): TransactionState | null {
  const shown = isUnconfirmed(row) ? null : shownOf(row, state)
  if (shown === null) return null
  const type = state.isRefundOnly ? 'refund' : state.isOurs ? 'mpp' : 'card'
  return { ...shown, type, intentId: row.intentId, transferId: null }
}

function shownOf(row: AuthorizationRow, state: PaymentState): Shown | null {
  const { clearedCents, refundedCents, approvedCents, confirmedCents, isOver } = state
  if (clearedCents > 0n) {
    const isDone = isOver || confirmedCents !== null || clearedCents >= approvedCents || refundedCents > 0n
    return paid(
      clearedCents,
      refundedCents,
      refundedCents >= clearedCents,
      isDone ? 'completed' : 'settlement',
    )
  }
  if (confirmedCents !== null)
    return paid(confirmedCents, refundedCents, isOver || refundedCents >= confirmedCents, 'completed')
  // Its payment has not been cleared yet.
  if (refundedCents > 0n)
    return state.isRefundOnly
      ? paid(refundedCents, 0n, false, 'completed')
      : paid(refundedCents, refundedCents, true, 'completed')
  const amountEuros = approvedCents > 0n ? approvedCents : row.amountEuros
  if (amountEuros === 0n) return null
  const declineReason = endedReasons[row.status] ?? (approvedCents > 0n ? null : row.declineReason)
  const status = declineReason === null ? 'authorization' : 'declined'
  return { status, amountEuros, refundedEuros: 0n, declineReason }
}

const paid = (
  amountEuros: bigint,
  refundedEuros: bigint,
  isBack: boolean,
  status: Shown['status'],
): Shown => ({
  status: isBack ? 'refunded' : status,
  amountEuros,
  refundedEuros: isBack ? amountEuros : refundedEuros,
  declineReason: null,
})
