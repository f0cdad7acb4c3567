import type { EmitContext } from '../../kernel/contract/context.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { RefundReceipt } from '../../money/refunds/index.ts'
import {
  addTransactionWitness,
  insertTransactions,
  moveTransaction,
  newCompletedTransaction,
  newTransaction,
  type TransactionRow,
  type TransactionState,
  updateTransactions,
} from '../../money/transactions/index.ts'
import {
  type CaptureAccounts,
  type CaptureEmitContext,
  coveringIntent,
  type FactEvidence,
  type HoldAccounts,
  isPaymentOf,
  type LimitBatch,
  type LimitedChannel,
  type PaymentBatch,
  type PaymentChannel,
  type PaymentEmitContext,
  type PaymentView,
  type PostedPaymentBatch,
  type RefundEmitContext,
} from './channel.ts'
import { countLimitUsage } from './count-usage.ts'
import { PaymentMoney, refundWalletId } from './move-money.ts'
import {
  evolve,
  type FactOf,
  type Payment,
  type PaymentChange,
  type PaymentFact,
  type PaymentState,
} from './payment.ts'

type ReceiptPlace = Omit<RefundReceipt, 'agentId' | 'amountCents'>

type Applying<P extends Payment> = PaymentSession<PaymentChannel<P>, PaymentBatch, PaymentEmitContext>
type Capturing<P extends Payment> = PaymentSession<
  PaymentView<P> & CaptureAccounts,
  PaymentBatch,
  CaptureEmitContext
>
type Holding<P extends Payment> = PaymentSession<PaymentView<P> & HoldAccounts, PaymentBatch, EmitContext>
type Refunding<P extends Payment> = PaymentSession<PaymentView<P>, PostedPaymentBatch, RefundEmitContext>
type Showing = PaymentSession<unknown, PostedPaymentBatch, unknown>
type Counting<P extends Payment> = PaymentSession<LimitedChannel<P>, LimitBatch, unknown>

/**
 * The payments of one channel in one batch, for one operation: the only place that changes a payment. Each method
 * states what the session must have been opened with, since one that only holds money has fewer accounts and events.
 */
export class PaymentSession<Channel, Batch, Context> {
  readonly #channel: Channel
  readonly #batch: Batch
  readonly #context: Context

  constructor(channel: Channel, batch: Batch, context: Context) {
    this.#channel = channel
    this.#batch = batch
    this.#context = context
  }

  /** Money, limits, record, transaction, refunds and intent follow from one more fact. */
  apply<P extends Payment>(
    this: Applying<P>,
    payment: P,
    fact: PaymentFact,
    evidence: FactEvidence,
  ): PaymentState {
    const change = evolve(payment, fact)
    payment.facts = change.facts
    this.#reclaimIntent(payment, change)
    new PaymentMoney(payment, this.#channel, this.#batch, evidence).move(change.money, this.#channel)
    const transaction = this.#show(payment, change, evidence)
    if (transaction && change.after.refundedCents > 0n) this.#recordRefund(payment, change, transaction)
    this.#moveIntent(payment, change)
    this.#completeIntent(payment, change, transaction)
    this.#channel.applied?.(payment, change)
    return change.after
  }

  /** Holds the money of a payment that this service makes, or releases it before any is captured. */
  hold<P extends Payment>(
    this: Holding<P>,
    payment: P,
    fact: FactOf<'authorized' | 'reversed'>,
    evidence: FactEvidence,
  ): void {
    const change = evolve(payment, fact)
    payment.facts = change.facts
    new PaymentMoney(payment, this.#channel, this.#batch, evidence).hold(change.money.shares)
    this.#count(payment, change)
    this.#channel.record(payment, change.after)
    this.#moveIntent(payment, change)
  }

  /** Captures a payment that this service makes at once, which its payee has with the posting. */
  capture<P extends Payment>(
    this: Capturing<P>,
    payment: P,
    fact: FactOf<'captured'>,
    evidence: FactEvidence,
  ): void {
    const change = evolve(payment, fact)
    const { after, money } = change
    payment.facts = change.facts
    this.#reclaimIntent(payment, change)
    const { captureCents, shares } = money
    new PaymentMoney(payment, this.#channel, this.#batch, evidence).capture(
      captureCents,
      shares,
      this.#channel,
    )
    this.#count(payment, change)
    this.#channel.record(payment, after)
    const wanted = this.#channel.transactionOf(payment, after)
    if (!wanted) throw new Error(`${payment.id}: captured, and not shown`)
    const { status: _, ...shown } = wanted
    const transaction = newCompletedTransaction({ ...this.#payerOf(payment), ...shown }, this.#context)
    this.#addTransaction(payment, transaction)
    this.#completeIntent(payment, change, transaction)
  }

  /**
   * Refunds a payment that was captured at once. The payee has posted the money, and the intent stays completed
   * by its one payment. Limits, record, transaction and refund follow from the fact.
   */
  refund<P extends Payment>(
    this: Refunding<P>,
    payment: P,
    fact: FactOf<'refunded'>,
    receipt: ReceiptPlace,
  ): PaymentState {
    const change = evolve(payment, fact)
    payment.facts = change.facts
    const transaction = this.#show(payment, change, { witness: null })
    if (transaction) this.#addRefund(payment, change, transaction, receipt)
    return change.after
  }

  /** A dispute leaves an amount with the owner, which no longer counts towards the payment's limits. */
  credit<P extends Payment>(this: Counting<P>, payment: P, fact: FactOf<'credited'>): void {
    const change = evolve(payment, fact)
    payment.facts = change.facts
    this.#count(payment, change)
  }

  #count<P extends Payment>(this: Counting<P>, payment: P, change: PaymentChange): void {
    const limitsOf = (hasIntent: boolean) => this.#channel.limitsOf(payment, hasIntent)
    countLimitUsage(payment, change, limitsOf, this.#batch)
  }

  /** Shows the change in limits, on the record and on the transaction, which it creates if there is none. */
  #show<P extends Payment>(
    this: Refunding<P>,
    payment: P,
    change: PaymentChange,
    { witness }: Pick<FactEvidence, 'witness'>,
  ): TransactionRow | undefined {
    this.#count(payment, change)
    this.#channel.record(payment, change.after)
    const wanted = this.#transactionOf(payment, change.after)
    if (!wanted) return undefined
    const { changed, now, transactions } = this.#batch
    const { emit } = this.#context
    const known = payment.transactionId ? transactions.get(payment.transactionId) : undefined
    const transaction = known ?? newTransaction(this.#payerOf(payment), wanted, this.#batch, emit)
    if (!known) this.#addTransaction(payment, transaction)
    const isMoved = moveTransaction(transaction, wanted, now, emit)
    const isWitnessed =
      witness !== null && addTransactionWitness(transaction, { ...witness, at: now.toISOString() })
    if ((isMoved || isWitnessed) && !changed.newTransactions.has(transaction))
      changed.transactions.add(transaction)
    return transaction
  }

  /** One transaction pays an intent. A payment that has lost its intent may still be refunded, and then names none. */
  #transactionOf<P extends Payment>(
    this: Refunding<P>,
    payment: P,
    state: PaymentState,
  ): TransactionState | null {
    const wanted = this.#channel.transactionOf(payment, state)
    const intent = coveringIntent(payment, this.#batch)
    const isOther = intent !== undefined && !isPaymentOf(intent, payment)
    return wanted && wanted.status !== 'declined' && isOther ? { ...wanted, intentId: null } : wanted
  }

  #payerOf(this: Counting<never>, payment: Payment) {
    const { agentId, cardId, walletId, merchant, mcc, country } = payment
    const runId = coveringIntent(payment, this.#batch)?.runId ?? null
    return { agentId, cardId, walletId, runId, merchant, mcc, country }
  }

  #addTransaction(this: Showing, payment: Payment, transaction: TransactionRow): void {
    const { changed, transactions } = this.#batch
    payment.transactionId = transaction.id
    transactions.set(transaction.id, transaction)
    changed.newTransactions.add(transaction)
  }

  /** Records money that a network returned. How much of it belongs to the payment may become known later. */
  #recordRefund<P extends Payment>(
    this: Applying<P>,
    payment: P,
    change: PaymentChange,
    transaction: TransactionRow,
  ): void {
    const { sourceType, ...way } = this.#channel.refunds
    const source = { type: sourceType, id: payment.id }
    const receipt = { ...way, walletId: refundWalletId(payment, this.#batch), source }
    this.#addRefund(payment, change, transaction, receipt)
    this.#batch.refunds.link(source, transaction.id, change.refund.totalCents)
  }

  #addRefund(
    this: Refunding<never>,
    { agentId }: Payment,
    { refund: { arrivedCents: amountCents, ofPaymentCents } }: PaymentChange,
    { id }: TransactionRow,
    receipt: ReceiptPlace,
  ): void {
    if (amountCents === 0n) return
    const { refunds } = this.#batch
    refunds.record(id, { agentId, amountCents, ...receipt }, ofPaymentCents, this.#context.emit)
  }

  /** A payment that is held or paid after its intent was free again keeps it only if no other payment has taken it. */
  #reclaimIntent(this: Capturing<never>, payment: Payment, { after, intentStep }: PaymentChange): void {
    const { payments } = this.#batch
    const intent = coveringIntent(payment, this.#batch)
    if (!intent || intentStep === 'free' || isPaymentOf(intent, payment)) return
    // Once this service has begun a payment on an intent, or the network has approved one, it pays that intent, even if
    // the agent was frozen since.
    const isPayable =
      after.isSelfInitiated || after.capturedCents === 0n
        ? intent.status === 'approved' && intent.paymentId === null
        : payments.blockerOf(intent) === undefined
    if (isPayable) payments.begin(intent, payment.id)
    else Object.assign(payment, { source: 'wallet', intentId: null })
  }

  /** An intent is being paid while its payment is open, and can be paid again once that has ended unpaid. */
  #moveIntent(this: Holding<never>, payment: Payment, { intentStep }: PaymentChange): void {
    const { payments } = this.#batch
    const intent = coveringIntent(payment, this.#batch)
    if (intent?.status !== 'approved') return
    if (intentStep === 'begin' && intent.paymentId === null) payments.begin(intent, payment.id)
    if (intentStep === 'free' && intent.paymentId === payment.id) payments.cancel(intent, this.#context)
  }

  /** The first capture completes the intent. What the payment will not take is released. */
  #completeIntent(
    this: Capturing<never>,
    payment: Payment,
    { before, after, intentStep }: PaymentChange,
    transaction: TransactionRow | undefined,
  ): void {
    const { payments, book } = this.#batch
    const intent = coveringIntent(payment, this.#batch)
    if (!intent || !transaction) return
    if (intent.status === 'approved' && intentStep === 'complete')
      payments.complete(intent, transaction.id, this.#context)
    const isConfirmedNow = after.confirmedCents !== null && before.confirmedCents === null
    const isPaidByMe = intent.status === 'completed' && intent.transactionId === transaction.id
    if (isPaidByMe && (after.isClosed || isConfirmedNow)) payments.releaseRest(intent, book, this.#context)
  }
}

export async function writePayments(
  { tenant, payments, refunds, book, changed }: PaymentBatch,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    insertTransactions(sql, [...changed.newTransactions]),
    updateTransactions(sql, tenant, [...changed.transactions]),
    payments.write(sql),
    refunds.write(sql),
    book.post(sql),
  ])
}
