import {
  incrementPostingReference,
  type PaymentChange,
  type PaymentChannel,
  type PaymentEmitContext,
  type PaymentFacts,
  PaymentSession,
  type PaymentState,
} from '../../control/payments/index.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { TransactionState } from '../../money/transactions/index.ts'
import { addMs, days } from '../../values/clock.ts'
import { addCents, type Cents, NO_CENTS, negateCents, subtractCents } from '../../values/money.ts'
import type { agentCredentialChargeEvents } from '../agent-credentials/index.ts'
import { cardProcess } from '../cards/index.ts'
import {
  type AuthorizationRow,
  type AuthorizationStatus,
  authorizationMachine,
  CARD_REFUND_SOURCE,
} from './authorization.ts'
import { type CardBatch, hasFreedPurse } from './batch.ts'

/** The days that a hold lasts, by the merchant's trade, as networks define them. */
const HOLD_DAYS = 7
const LONG_HOLD_DAYS = 31
const isLongHeld = (mcc: string | null): boolean =>
  mcc !== null &&
  (/^(?:3[3-4]\d\d|3[5-9]\d\d)$/.test(mcc) || ['4411', '7011', '7012', '7512', '7513', '7519'].includes(mcc))

/** Counts towards the limits of the card and its agent. Those of the agent itself were counted by the intent. */
export const cardLimits = {
  limitsOf({ agentId, cardId }: AuthorizationRow, hasIntent: boolean): string[] {
    const ofCard = cardId ? [cardId] : []
    return hasIntent ? ofCard : [agentId, ...ofCard]
  },
}

const cardChannel = (batch: CardBatch, context: PaymentEmitContext): PaymentChannel<AuthorizationRow> => ({
  ...cardLimits,
  clearing: 'clearing_cards',
  postings: {
    capture: 'card_capture',
    settle: 'card_settle',
    undo: 'card_undo',
    undoUnmatched: 'card_undo_unmatched',
    refund: 'card_refund',
    refundUnmatched: 'card_refund_unmatched',
  },
  holdReference: incrementPostingReference,
  refunds: { way: 'card', origin: 'network', sourceType: CARD_REFUND_SOURCE },
  record: (authorization, state) => record(authorization, state, batch),
  transactionOf,
  applied: (authorization, { after }) => endCard(authorization, after, batch, context),
})

/** Card payments, for facts that this service, a merchant or the owner states. */
export const cardPayments = (batch: CardBatch, context: PaymentEmitContext) =>
  new PaymentSession(cardChannel(batch, context), batch, context)

export type NetworkContext = PaymentEmitContext & EmitContext<typeof agentCredentialChargeEvents>

/** For facts of the network and of deadlines, which are also reported to the holder of the network token that pays. */
export function networkPayments(batch: CardBatch, context: NetworkContext) {
  const channel: PaymentChannel<AuthorizationRow> = {
    ...cardChannel(batch, context),
    applied(authorization, change) {
      endCard(authorization, change.after, batch, context)
      emitCharge(authorization, change, batch, context)
    },
  }
  return new PaymentSession(channel, batch, context)
}

/** Charges the network token for the amount above the recorded state, and gives back what it did not pay. */
function chargeToken(
  authorization: AuthorizationRow,
  state: PaymentState,
  { credentials, now }: CardBatch,
): void {
  if (authorization.networkTokenId === null) return
  const before = addCents(authorization.heldCents, authorization.capturedCents)
  const change = subtractCents(addCents(state.heldCents, state.capturedCents), before)
  const isIncrement = authorization.approvedCents > 0n
  if (change > 0n) credentials.charge(authorization.networkTokenId, change, now, { isIncrement })
  if (change < 0n) credentials.giveBack(authorization.networkTokenId, negateCents(change), now)
}

function record(authorization: AuthorizationRow, state: PaymentState, batch: CardBatch): void {
  const { now, changed } = batch
  chargeToken(authorization, state, batch)
  const {
    requestedCents,
    initiatedCents,
    clearedCents,
    refundedCents,
    confirmedCents,
    pendingCents,
    heldCents,
  } = state
  const isPartlyCleared = clearedCents > 0n && pendingCents > 0n
  const isAwaited = heldCents > 0n || state.capturedCents > clearedCents || isPartlyCleared
  const isOpen = !state.isClosed && isAwaited
  authorization.declineReason = declineReasonOf(authorization, state)
  authorizationMachine.move(authorization, statusOf(state, authorization))
  Object.assign(authorization, {
    updatedAt: now,
    amountCents: requestedCents || clearedCents || confirmedCents || initiatedCents || refundedCents,
    approvedCents: state.approvedCents,
    heldCents,
    capturedCents: state.capturedCents,
    clearedCents,
    refundedCents,
    expiresAt: isOpen ? (authorization.expiresAt ?? addMs(now, days(holdDays(authorization, state)))) : null,
  })
  if (!changed.newAuthorizations.has(authorization)) changed.authorizations.add(authorization)
}

const holdDays = ({ mcc }: AuthorizationRow, { confirmedCents }: PaymentState): number =>
  confirmedCents !== null || isLongHeld(mcc) ? LONG_HOLD_DAYS : HOLD_DAYS

function statusOf(
  state: PaymentState,
  { processorRef, mppCredentialId, declineReason }: AuthorizationRow,
): AuthorizationStatus {
  const { clearedCents, capturedCents, refundedCents, approvedCents, confirmedCents, isClosed, isReversed } =
    state
  // The network may report the payment after its refund.
  const isAwaited = confirmedCents !== null && processorRef === null && mppCredentialId === null && !isClosed
  if (refundedCents > 0n && refundedCents >= capturedCents && !isAwaited) return 'refunded'
  if (clearedCents > 0n) return isClosed || clearedCents >= approvedCents ? 'cleared' : 'authorized'
  if (isReversed) return 'reversed'
  if (state.isNotPaid) return declineReason === null ? 'void' : 'declined'
  if (isClosed) return 'expired'
  if (state.pendingCents > 0n) return 'pending'
  if (confirmedCents !== null && (processorRef === null || approvedCents === 0n)) return 'confirmed'
  return approvedCents > 0n || declineReason === null ? 'authorized' : 'declined'
}

function declineReasonOf(
  {
    facts: { outcome },
    declineReason,
  }: { readonly facts: PaymentFacts; readonly declineReason: string | null },
  { approvedCents }: PaymentState,
): string | null {
  if (outcome.length === 0) return declineReason
  if (approvedCents > 0n || outcome.some(({ approved }) => approved)) return null
  return declineReason ?? 'The card processor declined the payment.'
}

const endedReasons: Readonly<Partial<Record<string, string>>> = {
  reversed: 'The merchant reversed the payment.',
  expired: 'The merchant did not clear the payment in time.',
  void: 'The machine payment was not paid.',
}

const isUnconfirmed = ({ status, transactionId }: AuthorizationRow): boolean =>
  transactionId === null && (status === 'pending' || status === 'void')

type TransactionView = Omit<TransactionState, 'type' | 'intentId' | 'transferId' | 'original'>

function transactionOf(authorization: AuthorizationRow, state: PaymentState): TransactionState | null {
  const shown = isUnconfirmed(authorization) ? null : transactionView(authorization, state)
  if (shown === null) return null
  const type = state.isRefundOnly ? 'refund' : state.isSelfInitiated ? 'mpp' : 'card'
  const original = originalOf(state)
  return { ...shown, type, original, intentId: authorization.intentId, transferId: null }
}

function originalOf(state: PaymentState): TransactionState['original'] {
  const { original, refundedOriginal, initiatedCents, approvedCents } = state
  if (original === null) return null
  const heldCents = initiatedCents || approvedCents
  return {
    ...original,
    heldCents: heldCents === 0n ? null : String(heldCents),
    refundedAmount: refundedOriginal?.amount ?? null,
  }
}

function transactionView(authorization: AuthorizationRow, state: PaymentState): TransactionView | null {
  const { clearedCents, capturedCents, refundedCents, approvedCents, confirmedCents, isClosed } = state
  if (clearedCents > 0n) {
    const isDone = isClosed || confirmedCents !== null || clearedCents >= approvedCents || refundedCents > 0n
    return paid(
      capturedCents,
      refundedCents,
      refundedCents >= capturedCents,
      isDone ? 'completed' : 'settlement',
    )
  }
  if (confirmedCents !== null)
    return paid(confirmedCents, refundedCents, isClosed || refundedCents >= confirmedCents, 'completed')
  if (refundedCents > 0n)
    return state.isRefundOnly
      ? paid(refundedCents, NO_CENTS, false, 'completed')
      : paid(refundedCents, refundedCents, true, 'completed')
  const amountCents = approvedCents > 0n ? approvedCents : authorization.amountCents
  if (amountCents === 0n) return null
  const declineReason =
    endedReasons[authorization.status] ?? (approvedCents > 0n ? null : authorization.declineReason)
  const status = declineReason === null ? 'authorization' : 'declined'
  return { status, amountCents, refundedCents: NO_CENTS, declineReason }
}

const paid = (
  amountCents: Cents,
  refundedCents: Cents,
  isRefunded: boolean,
  status: TransactionView['status'],
): TransactionView => ({
  status: isRefunded ? 'refunded' : status,
  amountCents,
  refundedCents: isRefunded ? amountCents : refundedCents,
  declineReason: null,
})

/** Wakes the run of a card that its only payment ends, or that is closed and returns what this payment frees in its purse. */
function endCard(
  authorization: AuthorizationRow,
  { isClosed, clearedCents }: PaymentState,
  { singleUse, spent, terms }: CardBatch,
  { wake }: PaymentEmitContext,
): void {
  const { cardId, agentId } = authorization
  if (cardId === null) return
  const isSpent = isClosed && clearedCents > 0n && singleUse.has(cardId)
  const isReturning = terms.get(cardId)?.status === 'closed' && hasFreedPurse(authorization)
  if (isSpent) spent.add(cardId)
  if (isSpent || isReturning) wake(cardProcess, { id: cardId, agentId })
}

/**
 * Emits what is new about a payment by network token: authorized, cleared, or declined. It counts as declined
 * too once everything authorized was withdrawn, reversed or expired without a clearing.
 */
function emitCharge(
  authorization: AuthorizationRow,
  { before, after }: PaymentChange,
  { credentials }: CardBatch,
  { emit }: NetworkContext,
): void {
  if (authorization.networkTokenId === null) return
  const credential = credentials.find(authorization.networkTokenId)
  if (!credential) return
  const cleared = subtractCents(after.clearedCents, before.clearedCents)
  const authorized = subtractCents(authorizedOf(after), authorizedOf(before))
  const { id: agentCredentialId, agentId, cardId, intentId, status } = credential
  const { mppCredentialId, transactionId } = authorization
  const data = { agentCredentialId, mppCredentialId, agentId, intentId, cardId, status, transactionId }
  // The network's account of a request is no further answer to it.
  const isAnswered = after.answerCount > before.answerCount
  if (cleared > 0n || authorized > 0n)
    emit('agent_credential.charged', { ...data, amountCents: cleared > 0n ? cleared : authorized })
  else if (authorization.amountCents > 0n && !isPaying(after) && (isAnswered || authorized < 0n))
    emit('agent_credential.declined', { ...data, amountCents: authorization.amountCents })
}

const authorizedOf = ({ approvedCents, clearedCents, isClosed }: PaymentState): Cents =>
  isClosed && clearedCents === 0n ? NO_CENTS : approvedCents

const isPaying = (state: PaymentState): boolean => authorizedOf(state) + state.clearedCents > 0n
