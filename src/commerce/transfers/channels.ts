import type { IntentRow } from '../../control/intents/index.ts'
import {
  bookedBy,
  type Channel,
  type DirectChannel,
  type Evidence,
  factsOf,
  foldFacts,
  noFacts,
  type Payment,
  type PaymentBatch,
  type PaymentFact,
  type PaymentState,
} from '../../control/payments/index.ts'
import type { AccountKey, Cause, Template } from '../../money/ledger/index.ts'
import type { TransactionState } from '../../money/transactions/index.ts'
import type { TransferRow } from './transfer.ts'

export const holdReference = (transferId: string): Cause => ({ type: 'transfer', id: transferId })

/** The payment of a transfer. */
export interface TransferPayment extends Payment {
  readonly amountCents: bigint
  /** Why the rail has not paid. */
  declineReason: string | null
}

const payerOf = ({ id, agentId, fromWalletId, intentId, transactionId, amountCents }: TransferRow) => ({
  ...{ id, agentId, intentId, transactionId, amountCents },
  cardId: null,
  walletId: fromWalletId,
  source: intentId ? 'intent' : 'wallet',
})

/** The payment of an intent by a transfer into a wallet: nothing of it is known before its capture. */
export const walletPayment = (
  transfer: TransferRow,
  { merchant, mcc, country }: IntentRow,
): TransferPayment => ({
  ...payerOf(transfer),
  ...{ merchant, mcc, country, facts: noFacts, declineReason: null },
  ...bookedBy(foldFacts(noFacts)),
})

/** The payment of a transfer by SEPA. Its facts follow from the record, which is the only place that keeps them. */
export function sepaPayment(transfer: TransferRow): TransferPayment {
  const { payee, reason } = transfer
  const facts = factsOf(factsOfRecord(transfer))
  return {
    ...payerOf(transfer),
    ...bookedBy(foldFacts(facts)),
    facts,
    merchant: String(payee?.name),
    mcc: null,
    country: payee?.iban.slice(0, 2) ?? null,
    declineReason: reason?.message ?? null,
  }
}

/** We have approved the transfer: its money is held from its making on. */
export const authorizedOf = ({ amountCents }: Pick<TransferRow, 'amountCents'>) =>
  ({ type: 'authorized', increment: 0, requestedCents: amountCents, approvedCents: amountCents }) as const

/** Nothing of the transfer is paid. */
export const reversedOf = ({ id }: Pick<TransferRow, 'id'>) =>
  ({ type: 'reversed', id, cents: null }) as const

function factsOfRecord(transfer: TransferRow): PaymentFact[] {
  const { id, amountCents: cents, status, submittedAt, completedAt } = transfer
  const facts: PaymentFact[] = [authorizedOf(transfer)]
  if (submittedAt) facts.push({ type: 'captured', cents })
  if (completedAt) facts.push({ type: 'cleared', id, cents, final: true })
  if (status === 'rejected' || status === 'cancelled') facts.push(reversedOf(transfer))
  if (status === 'returned') facts.push({ type: 'refunded', id, cents })
  return facts
}

/** What all transfers have in common. Without an intent one is the owner's own, which no limit of an agent counts. */
const transferChannel = {
  holdReference,
  limitsOf: () => [],
  record(payment: TransferPayment, state: PaymentState) {
    Object.assign(payment, bookedBy(state))
  },
}

/** Transfers by SEPA: held when made, captured by the submission, cleared by the settlement. */
export const sepaChannel: Channel<TransferPayment, PaymentBatch> = {
  ...transferChannel,
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

/** Transfers into a wallet: captured at once, into the payee's wallet or on the way to another owner's. */
export const walletChannel = (
  capture: Template,
  clearing: AccountKey,
): DirectChannel<TransferPayment, PaymentBatch> => ({
  ...transferChannel,
  clearing,
  postings: { capture },
  transactionOf: payment => ({
    ...shown(payment),
    status: 'completed',
    refundedCents: 0n,
    declineReason: null,
  }),
})

/** Each posting of a transfer has a kind of its own, so all of them have one cause: by default the transfer. */
export const transferEvidence = ({ id }: Pick<TransferRow, 'id'>, cause = holdReference(id)): Evidence => ({
  witness: null,
  nextPosting: () => cause,
})

const shown = ({ id: transferId, amountCents, intentId }: TransferPayment) =>
  ({ type: 'transfer', transferId, amountCents, intentId }) as const

/** Null until the transfer is submitted. */
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
