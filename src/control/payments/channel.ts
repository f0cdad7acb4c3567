import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { LedgerAccountKey, LockedBook, PostingCause, PostingTemplate } from '../../money/ledger/index.ts'
import type { RefundBook, RefundRow, refundArrivedEvents } from '../../money/refunds/index.ts'
import type { TransactionRow, TransactionState, transactionEvents } from '../../money/transactions/index.ts'
import type { WalletRow } from '../../money/wallets/index.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import type { IntentPayments, IntentRow, intentPaidEvents } from '../intents/index.ts'
import type { SpendingAgent } from '../policies/index.ts'
import type { Payment, PaymentChange, PaymentState } from './payment.ts'

/** The subjects whose limits a payment counts towards. Under an intent, they add to the intent's. */
export interface LimitedChannel<P extends Payment> {
  limitsOf(payment: P, hasIntent: boolean): readonly string[]
}

/** Shows a payment on its channel's record. This is enough for facts whose money is already posted. */
export interface PaymentView<P extends Payment> extends LimitedChannel<P> {
  record(payment: P, state: PaymentState): void
  transactionOf(payment: P, state: PaymentState): TransactionState | null
}

export interface HoldAccounts {
  /** The reference under which the money of an approval is held. */
  holdReference(paymentId: string, increment: number): PostingCause
}

/** Sufficient for a payee who has captured money at once and posts refunds itself. */
export interface CaptureAccounts extends HoldAccounts {
  /** Receives captured money: the payee's wallet, or a clearing account until the network has cleared it. */
  readonly clearing: LedgerAccountKey
  readonly postings: { readonly capture: PostingTemplate }
}

export interface PaymentAccounts extends CaptureAccounts {
  readonly postings: {
    readonly capture: PostingTemplate
    readonly settle: PostingTemplate
    readonly undo: PostingTemplate
    /** For a closed wallet, the money goes to suspense. */
    readonly undoUnmatched: PostingTemplate
    readonly refund: PostingTemplate
    readonly refundUnmatched: PostingTemplate
  }
}

/** A way to pay: the accounts and postings of its money, and how it shows a payment. It moves no money itself. */
export interface PaymentChannel<P extends Payment> extends PaymentView<P>, PaymentAccounts {
  /** The rail and origin of its refunds, and the type of record by which they name the payment. */
  readonly refunds: Pick<RefundRow, 'way'> & {
    readonly origin: 'network' | 'bank'
    readonly sourceType: string
  }
  applied?(payment: P, change: PaymentChange): void
}

export type PayingIntent = Pick<
  IntentRow,
  'id' | 'amountCents' | 'holdCents' | 'merchant' | 'cardId' | 'runId' | 'paymentId' | 'transactionId'
>

/** The locked limits that a payment counts towards. */
export interface LimitBatch {
  readonly agents: ReadonlyMap<string, SpendingAgent>
  readonly payments: { find(id: string | null): PayingIntent | undefined }
  readonly counters: BudgetCounters
}

/**
 * The locked records that follow from facts whose money is already posted, and their changes. The caller
 * writes them.
 */
export interface PostedPaymentBatch extends TenantNow, LimitBatch {
  readonly refunds: RefundBook
  readonly transactions: Map<string, TransactionRow>
  readonly changed: {
    readonly newTransactions: Set<TransactionRow>
    readonly transactions: Set<TransactionRow>
  }
}

export interface PaymentBatch extends PostedPaymentBatch {
  readonly payments: IntentPayments
  readonly book: LockedBook
  readonly wallets: ReadonlyMap<string, Pick<WalletRow, 'status'>>
  /** Receives the refunds of a closed wallet. Missing if no refund is expected, or the owner has no such wallet. */
  readonly ownersWalletId: string | null | undefined
}

/**
 * A batch without what only some channels need: agents whose limits count, a wallet for refunds, known
 * transactions.
 */
export const paymentBatch = <
  O extends Pick<PostedPaymentBatch, 'refunds'> & {
    readonly payments: Pick<IntentPayments, 'counters'>
  } & Partial<Omit<PaymentBatch, 'payments'>>,
>(
  { tenant, now }: TenantNow,
  opened: O,
) => ({
  ...{ tenant, now, agents: new Map<string, SpendingAgent>(), counters: opened.payments.counters },
  ownersWalletId: null,
  transactions: new Map<string, TransactionRow>(),
  changed: { newTransactions: new Set<TransactionRow>(), transactions: new Set<TransactionRow>() },
  ...opened,
})

export interface FactEvidence {
  /** A message, a receipt, a deadline; null if the payment's own record is the evidence. */
  readonly witness: { readonly type: string; readonly id: string } | null
  /** Returns a new reference each time, so that no posting is made twice. */
  readonly nextPosting: () => PostingCause
}

/** Prefixed with the payment's id, by which statements look up the merchant. */
export function messageEvidence(type: string, id: string, paymentId: string, change: string): FactEvidence {
  let count = 0
  const nextPosting = (): PostingCause => ({ type: 'card_change', id: `${paymentId}/${change}:${count++}` })
  return { witness: { type, id }, nextPosting }
}

export type CaptureEmitContext = EmitContext<typeof transactionEvents & typeof intentPaidEvents>

export type RefundEmitContext = EmitContext<typeof refundArrivedEvents>

export type PaymentEmitContext = EmitContext<typeof refundArrivedEvents & typeof intentPaidEvents>

export const coveringIntent = <I>(
  { source, intentId }: Pick<Payment, 'source' | 'intentId'>,
  { payments }: { readonly payments: { find(id: string | null): I | undefined } },
): I | undefined => (source === 'intent' ? payments.find(intentId) : undefined)

/** False while the intent is free, and once it is another payment's. */
export const isPaymentOf = (
  { paymentId, transactionId }: Pick<IntentRow, 'paymentId' | 'transactionId'>,
  payment: Pick<Payment, 'id' | 'transactionId'>,
): boolean => paymentId === payment.id || (transactionId !== null && transactionId === payment.transactionId)
