import type { EmitContext } from '../../kernel/contract/context.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { RefundReceipt } from '../../money/refunds/index.ts'
import {
  addTransactionWitness,
  insertTransactions,
  moveTransaction,
  newTransaction,
  type TransactionRow,
  type TransactionState,
  updateTransactions,
} from '../../money/transactions/index.ts'
import { minOf, remainderOf, subtractCents } from '../../values/money.ts'
import type { IntentRow } from '../intents/index.ts'
import { countLimitUsage } from './count-usage.ts'
import { diffPaymentAmounts, intentTransition, refundedPaymentCents } from './diff.ts'
import { addPaymentFact, type PaymentFact } from './facts.ts'
import { bookPaymentDiff, refundWalletId } from './move-money.ts'
import {
  type CaptureEmitContext,
  coveringIntent,
  type FactEvidence,
  type ImmediatePaymentChannel,
  type Payment,
  type PaymentBatch,
  type PaymentChannel,
  type PaymentEmitContext,
  type PaymentRecordView,
  type PostedPaymentBatch,
  type RefundEmitContext,
} from './payment.ts'
import { foldPaymentFacts, type PaymentState } from './state.ts'

/**
 * The only place that changes a payment: money, limits, record, transaction, refunds and intent follow from
 * its facts.
 */
export function applyPaymentFact<P extends Payment, B extends PaymentBatch, C extends PaymentEmitContext>(
  payment: P,
  fact: PaymentFact,
  channel: PaymentChannel<P, B, C>,
  evidence: FactEvidence,
  batch: B,
  context: C,
): PaymentState {
  const factsBefore = payment.facts
  const before = foldPaymentFacts(factsBefore)
  payment.facts = addPaymentFact(factsBefore, fact)
  const state = foldPaymentFacts(payment.facts)
  reclaimIntent(payment, state, batch)
  bookPaymentDiff(payment, diffPaymentAmounts(payment, state), channel, batch, evidence)
  const transaction = showState(payment, state, channel, evidence, batch, context)
  if (transaction && state.refundedCents > 0n)
    recordRefunds(payment, before, state, transaction.id, channel, batch, context)
  moveIntent(payment, before, state, transaction, batch, context)
  channel.applied?.(payment, factsBefore, state, batch, context)
  return state
}

type FactOf<T extends PaymentFact['type']> = Extract<PaymentFact, { type: T }>

const noEvent = (event: string): never => {
  throw new Error(`${event}: nothing has left by a hold`)
}

/**
 * Holds the money of a payment that this service makes, or releases it before any of it has been captured. No
 * event follows.
 */
export const holdPayment = <P extends Payment, B extends PaymentBatch>(
  payment: P,
  fact: FactOf<'authorized' | 'reversed'>,
  channel: PaymentChannel<P, B>,
  evidence: FactEvidence,
  batch: B,
  { tenant, now, wake }: EmitContext,
): PaymentState =>
  applyPaymentFact(payment, fact, channel, evidence, batch, { tenant, now, wake, emit: noEvent })

/**
 * Captures a payment that this service makes at once. It settles and refunds nothing, so the channel and the
 * events of the operation need not support that.
 */
export const capturePayment = <P extends Payment, B extends PaymentBatch>(
  payment: P,
  fact: FactOf<'captured'>,
  channel: ImmediatePaymentChannel<P, B>,
  evidence: FactEvidence,
  batch: B,
  context: CaptureEmitContext,
): PaymentState =>
  applyPaymentFact(
    payment,
    fact,
    channel as PaymentChannel<P, B>,
    evidence,
    batch,
    context as PaymentEmitContext,
  )

type ReceiptPlace = Omit<RefundReceipt, 'agentId' | 'amountCents'>

/**
 * Refunds a payment that was captured at once. The payee has posted the money, and the intent stays completed
 * by its one payment. Limits, record, transaction and refund follow from the fact.
 */
export function refundPayment<P extends Payment, B extends PostedPaymentBatch>(
  payment: P,
  fact: FactOf<'refunded'>,
  channel: PaymentRecordView<P, B>,
  receipt: ReceiptPlace,
  batch: B,
  context: RefundEmitContext,
): PaymentState {
  const before = foldPaymentFacts(payment.facts)
  payment.facts = addPaymentFact(payment.facts, fact)
  const state = foldPaymentFacts(payment.facts)
  const transaction = showState(payment, state, channel, { witness: null }, batch, context)
  if (transaction) addRefund(payment, before, state, transaction.id, receipt, batch, context)
  return state
}

export async function writePayments(
  { tenant, payments, refunds, book, changed }: PaymentBatch,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    payments.write(sql),
    refunds.write(sql),
    book.post(sql),
    insertTransactions(sql, [...changed.newTransactions]),
    updateTransactions(sql, tenant, [...changed.transactions]),
  ])
}

/** A payment that is paid after it was refunded keeps its intent only if no other payment has taken it. */
function reclaimIntent(payment: Payment, state: PaymentState, { payments }: PaymentBatch): void {
  const intent = coveringIntent(payment, { payments })
  if (!intent || state.capturedCents === 0n) return
  const isPaidByMe = intent.transactionId !== null && intent.transactionId === payment.transactionId
  if (intent.paymentId === payment.id || isPaidByMe) return
  // Once this service has begun a payment on an intent, it pays that intent, even if the agent was frozen
  // since.
  const isPayable = state.isSelfInitiated
    ? intent.status === 'approved' && intent.paymentId === null
    : payments.blockerOf(intent) === undefined
  if (isPayable) payments.begin(intent, payment.id)
  else Object.assign(payment, { source: 'wallet', intentId: null })
}

function showState<P extends Payment, B extends PostedPaymentBatch>(
  payment: P,
  state: PaymentState,
  channel: PaymentRecordView<P, B>,
  { witness }: Pick<FactEvidence, 'witness'>,
  batch: B,
  { emit }: RefundEmitContext,
): TransactionRow | undefined {
  countLimitUsage(payment, state, channel, batch)
  channel.record(payment, state, batch)
  const wanted = channel.transactionOf(payment, state)
  if (!wanted) return undefined
  const { changed, now, transactions } = batch
  const known = payment.transactionId ? transactions.get(payment.transactionId) : undefined
  const transaction = known ?? createTransaction(payment, wanted, batch, emit)
  const isMoved = moveTransaction(transaction, wanted, now, emit)
  const isWitnessed =
    witness !== null && addTransactionWitness(transaction, { ...witness, at: now.toISOString() })
  if ((isMoved || isWitnessed) && !changed.newTransactions.has(transaction))
    changed.transactions.add(transaction)
  return transaction
}

function createTransaction(
  payment: Payment,
  wanted: TransactionState,
  batch: PostedPaymentBatch,
  emit: RefundEmitContext['emit'],
): TransactionRow {
  const intent = coveringIntent(payment, batch)
  const { agentId, cardId, walletId, merchant, mcc, country } = payment
  const members = { agentId, cardId, walletId, runId: intent?.runId ?? null, merchant, mcc, country }
  const transaction = newTransaction(members, wanted, batch, emit)
  payment.transactionId = transaction.id
  batch.transactions.set(transaction.id, transaction)
  batch.changed.newTransactions.add(transaction)
  return transaction
}

/** Records money that a network returned. How much of it belongs to the payment may become known later. */
function recordRefunds(
  payment: Payment,
  before: PaymentState,
  state: PaymentState,
  transactionId: string,
  { refunds: { sourceType, ...way } }: Pick<PaymentChannel<never, never>, 'refunds'>,
  batch: PaymentBatch,
  context: RefundEmitContext,
): void {
  const source = { type: sourceType, id: payment.id }
  const receipt = { ...way, walletId: refundWalletId(payment, batch), source }
  addRefund(payment, before, state, transactionId, receipt, batch, context)
  batch.refunds.link(source, transactionId, refundedPaymentCents(state))
}

function addRefund(
  { agentId }: Payment,
  before: PaymentState,
  state: PaymentState,
  transactionId: string,
  receipt: ReceiptPlace,
  { refunds }: Pick<PostedPaymentBatch, 'refunds'>,
  { emit }: RefundEmitContext,
): void {
  const amountCents = subtractCents(state.refundedCents, before.refundedCents)
  if (amountCents === 0n) return
  const more = minOf(remainderOf(refundedPaymentCents(state), refundedPaymentCents(before)), amountCents)
  refunds.record(transactionId, { agentId, amountCents, ...receipt }, more, emit)
}

function moveIntent(
  payment: Payment,
  before: PaymentState,
  state: PaymentState,
  transaction: TransactionRow | undefined,
  batch: PaymentBatch,
  context: PaymentEmitContext,
): void {
  const intent = coveringIntent(payment, batch)
  if (!intent) return
  if (intent.status === 'approved') stepIntent(intent, payment, state, transaction, batch, context)
  const isConfirmedNow = state.confirmedCents !== null && before.confirmedCents === null
  const isDone = state.isClosed || isConfirmedNow
  if (intent.status === 'completed' && intent.transactionId === transaction?.id && isDone)
    batch.payments.releaseRest(intent, batch.book, context)
}

function stepIntent(
  intent: IntentRow,
  payment: Payment,
  state: PaymentState,
  transaction: TransactionRow | undefined,
  { payments }: PaymentBatch,
  context: PaymentEmitContext,
): void {
  const step = intentTransition(state, payment.id, intent.paymentId)
  if (step === 'begin') payments.begin(intent, payment.id)
  if (step === 'free') payments.cancel(intent, context)
  if (step === 'complete' && transaction) payments.complete(intent, transaction.id, context)
}
