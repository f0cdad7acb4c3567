import {
  bookedBy,
  type Channel,
  type Evidence,
  factsOf,
  foldFacts,
  type Payment,
  type PaymentBatch,
  type PaymentFact,
  type PaymentState,
} from '../../../control/payments/index.ts'
import type { Cause } from '../../../money/ledger/index.ts'
import type { TransactionState } from '../../../money/transactions/index.ts'
import type { Transfer } from '../transfer.ts'

export const holdReference = (transferId: string): Cause => ({ type: 'transfer', id: transferId })

/** The payment of a transfer. Its facts follow from the record, which is the only place that keeps them. */
export interface TransferPayment extends Payment {
  readonly amountEuros: bigint
  /** Why the rail has not paid. */
  declineReason: string | null
}

export function paymentOf(transfer: Transfer): TransferPayment {
  const { id, agentId, fromWalletId, intentId, transactionId, amountEuros, payee, reason } = transfer
  const facts = factsOf(factsOfRecord(transfer))
  return {
    ...{ id, agentId, intentId, transactionId, amountEuros, facts },
    ...bookedBy(foldFacts(facts)),
    cardId: null,
    walletId: fromWalletId,
    source: intentId ? 'intent' : 'wallet',
    merchant: String(payee?.name),
    mcc: null,
    country: payee?.iban.slice(0, 2) ?? null,
    declineReason: reason?.message ?? null,
  }
}

function factsOfRecord({
  id,
  amountEuros: cents,
  status,
  submittedAt,
  completedAt,
}: Transfer): PaymentFact[] {
  const facts: PaymentFact[] = [
    { type: 'authorized', increment: 0, requestedCents: cents, approvedCents: cents },
  ]
  if (submittedAt) facts.push({ type: 'captured', cents })
  if (completedAt) facts.push({ type: 'cleared', id, cents, final: true })
  if (status === 'rejected' || status === 'cancelled') facts.push({ type: 'reversed', id, cents: null })
  if (status === 'returned') facts.push({ type: 'refunded', id, cents })
  return facts
}

/** Transfers by SEPA: held when made, captured by the submission, cleared by the settlement. */
export const sepaChannel: Channel<TransferPayment, PaymentBatch> = {
  clearing: 'clearing_sepa',
  postings: {
    capture: 'sepa_submit',
    settle: 'sepa_settle',
    undo: 'sepa_undo',
    undoUnmatched: 'sepa_undo_unmatched',
    refund: 'sepa_return',
    refundUnmatched: 'unmatched_credit',
  },
  holdReference,
  refunds: { way: 'sepa', origin: 'bank', sourceType: 'transfer' },
  // Without an intent a transfer is the owner's own, which no limit of an agent counts.
  limitsOf: () => [],
  record(payment, state) {
    Object.assign(payment, bookedBy(state))
  },
  transactionOf,
}

/** Each posting of a transfer has a kind of its own, so all of them are named by the transfer. */
export const sepaEvidence = ({ id }: Transfer): Evidence => ({
  witness: null,
  nextPosting: () => holdReference(id),
})

/** Null until the transfer is submitted. */
function transactionOf(
  { id, amountEuros, intentId, declineReason }: TransferPayment,
  { confirmedCents, capturedCents, clearedCents, refundedCents }: PaymentState,
): TransactionState | null {
  if (confirmedCents === null) return null
  const common = {
    type: 'transfer',
    transferId: id,
    amountEuros,
    refundedEuros: refundedCents,
    intentId,
  } as const
  if (capturedCents === 0n) return { ...common, status: 'declined', declineReason }
  const paid = clearedCents > 0n ? 'completed' : 'settlement'
  return { ...common, status: refundedCents > 0n ? 'refunded' : paid, declineReason: null }
}
