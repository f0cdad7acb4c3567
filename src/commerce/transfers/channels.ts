import type { IntentRow } from '../../control/intents/index.ts'
import {
  bookedAmounts,
  bookedFacts,
  collectPaymentFacts,
  type FactEvidence,
  type Payment,
  type PaymentChannel,
  type PaymentFact,
  type PaymentState,
  type PaymentView,
  unknownPayment,
} from '../../control/payments/index.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import type { TransactionRow, TransactionState } from '../../money/transactions/index.ts'
import { type Cents, minOf } from '../../values/money.ts'
import type { TransferRow } from './transfer.ts'

export const transferHoldReference = (transferId: string): PostingCause => ({
  type: 'transfer',
  id: transferId,
})

export interface TransferPayment extends Payment {
  readonly amountCents: Cents
  declineReason: string | null
}

type PaidTransfer = Pick<
  TransferRow,
  'id' | 'agentId' | 'fromWalletId' | 'intentId' | 'transactionId' | 'amountCents'
>

const payerOf = ({ id, agentId, fromWalletId, intentId, transactionId, amountCents }: PaidTransfer) => ({
  ...{ id, agentId, intentId, transactionId, amountCents },
  cardId: null,
  walletId: fromWalletId,
  source: intentId ? 'intent' : 'wallet',
})

/** An intent's payment by a transfer into a wallet: it has no facts before its capture. */
export const newWalletPayment = (
  transfer: TransferRow,
  { merchant, mcc, country }: IntentRow,
): TransferPayment => ({
  ...payerOf(transfer),
  ...unknownPayment,
  ...{ merchant, mcc, country, declineReason: null },
})

/** The same payment once it is made, derived from its transaction. Earlier refunds are one fact, with their sum. */
export function walletPaymentFromTransaction(transaction: TransactionRow): TransferPayment {
  const { id, transferId, walletId: fromWalletId, refundedCents, merchant, mcc, country } = transaction
  const { agentId, intentId, amountCents } = transaction
  const captured = { type: 'captured', cents: amountCents } as const
  const refunded = { type: 'refunded', id, cents: refundedCents } as const
  const facts = collectPaymentFacts(refundedCents > 0n ? [captured, refunded] : [captured])
  return {
    ...payerOf({ id: String(transferId), agentId, fromWalletId, intentId, transactionId: id, amountCents }),
    ...bookedFacts(facts),
    ...{ merchant, mcc, country, declineReason: null },
  }
}

/** A transfer's payment by SEPA. Its facts are derived from the transfer, which is the only place that stores them. */
export function sepaPaymentFromTransfer(transfer: TransferRow): TransferPayment {
  const { payee, reason } = transfer
  return {
    ...payerOf(transfer),
    ...bookedFacts(collectPaymentFacts(factsOfRecord(transfer))),
    merchant: String(payee?.name),
    mcc: null,
    country: payee?.iban.slice(0, 2) ?? null,
    declineReason: reason?.message ?? null,
  }
}

/** We approved the transfer: its money is held from the start. */
export const transferAuthorizedFact = ({ amountCents }: Pick<TransferRow, 'amountCents'>) =>
  ({ type: 'authorized', increment: 0, requestedCents: amountCents, approvedCents: amountCents }) as const

export const transferReversedFact = ({ id }: Pick<TransferRow, 'id'>) =>
  ({ type: 'reversed', id, cents: null }) as const

function factsOfRecord(transfer: TransferRow): PaymentFact[] {
  const { id, amountCents: cents, status, submittedAt, completedAt } = transfer
  const facts: PaymentFact[] = [transferAuthorizedFact(transfer)]
  if (submittedAt) facts.push({ type: 'captured', cents })
  if (completedAt) facts.push({ type: 'cleared', id, cents, final: true })
  if (status === 'rejected' || status === 'cancelled') facts.push(transferReversedFact(transfer))
  if (status === 'returned') facts.push({ type: 'refunded', id, cents })
  return facts
}

/**
 * Shared by all channels of transfers. A transfer without an intent is the owner's own, and counts towards no
 * agent's limit.
 */
const transferView = {
  limitsOf: () => [],
  record(payment: TransferPayment, state: PaymentState) {
    Object.assign(payment, bookedAmounts(state))
  },
}

/** Transfers by SEPA: held when made, captured by the submission, cleared by the settlement. */
export const sepaChannel: PaymentChannel<TransferPayment> = {
  ...transferView,
  holdReference: transferHoldReference,
  clearing: 'clearing_sepa',
  postings: {
    capture: 'sepa_submit',
    settle: 'sepa_settle',
    undo: 'sepa_undo',
    undoUnmatched: 'sepa_undo_unmatched',
    refund: 'sepa_return',
    refundUnmatched: 'unmatched_credit',
  },
  refunds: { way: 'sepa', origin: 'bank', sourceType: 'transfer' },
  transactionOf: sepaTransaction,
}

/** Transfers into a wallet, captured at once. What a payee gives back above the payment is no part of it. */
export const walletPaymentView: PaymentView<TransferPayment> = {
  ...transferView,
  transactionOf(payment, { capturedCents, refundedCents: givenBack }) {
    const refundedCents = minOf(givenBack, capturedCents)
    const status = refundedCents === capturedCents ? 'refunded' : 'completed'
    return { ...shown(payment), status, refundedCents, declineReason: null }
  },
}

/** Each posting of a transfer has its own template, so all share one cause: by default the transfer. */
export const transferEvidence = (
  { id }: Pick<TransferRow, 'id'>,
  cause = transferHoldReference(id),
): FactEvidence => ({
  witness: null,
  nextPosting: () => cause,
})

const shown = ({ id: transferId, amountCents, intentId }: TransferPayment) =>
  ({ type: 'transfer', transferId, original: null, amountCents, intentId }) as const

function sepaTransaction(
  payment: TransferPayment,
  { confirmedCents, capturedCents, clearedCents, refundedCents }: PaymentState,
): TransactionState | null {
  if (confirmedCents === null) return null
  const common = { ...shown(payment), refundedCents }
  if (capturedCents === 0n) return { ...common, status: 'declined', declineReason: payment.declineReason }
  const paid = clearedCents > 0n ? 'completed' : 'settlement'
  return { ...common, status: refundedCents > 0n ? 'refunded' : paid, declineReason: null }
}
