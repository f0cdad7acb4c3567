import type { Sql } from '../../kernel/contract/sql.ts'
import type { RefundReceipt } from '../../money/refunds/index.ts'
import {
  addWitness,
  insertTransactions,
  moveToState,
  newTransaction,
  type TransactionRow,
  type TransactionState,
  updateTransactions,
} from '../../money/transactions/index.ts'
import { minOf, minus, restOf } from '../../values/money.ts'
import type { IntentRow } from '../intents/index.ts'
import { countUsage } from './count-usage.ts'
import { diffOf, intentStepOf, refundedOfPayment } from './diff.ts'
import { addFact, type PaymentFact } from './facts.ts'
import { moveMoney, refundWallet } from './move-money.ts'
import {
  type ApplyContext,
  type CaptureContext,
  type Channel,
  coveringIntent,
  type DirectChannel,
  type Evidence,
  type Payment,
  type PaymentBatch,
  type PaymentView,
  type PostedBatch,
  type RefundContext,
} from './payment.ts'
import { foldFacts, type PaymentState } from './state.ts'

/**
 * The only place that changes a payment: money, limits, record, transaction, refunds and intent follow from
 * its facts.
 */
export function applyFact<P extends Payment, B extends PaymentBatch, C extends ApplyContext>(
  payment: P,
  fact: PaymentFact,
  channel: Channel<P, B, C>,
  evidence: Evidence,
  batch: B,
  context: C,
): PaymentState {
  const factsBefore = payment.facts
  const before = foldFacts(factsBefore)
  payment.facts = addFact(factsBefore, fact)
  const state = foldFacts(payment.facts)
  reclaimIntent(payment, state, batch)
  moveMoney(payment, diffOf(payment, state), channel, batch, evidence)
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
  channel: Channel<P, B>,
  evidence: Evidence,
  batch: B,
  { wake }: Pick<ApplyContext, 'wake'>,
): PaymentState => applyFact(payment, fact, channel, evidence, batch, { wake, emit: noEvent })

/**
 * Captures a payment that this service makes at once. It settles and refunds nothing, so the channel and the
 * events of the operation need not support that.
 */
export const capturePayment = <P extends Payment, B extends PaymentBatch>(
  payment: P,
  fact: FactOf<'captured'>,
  channel: DirectChannel<P, B>,
  evidence: Evidence,
  batch: B,
  context: CaptureContext,
): PaymentState =>
  applyFact(payment, fact, channel as Channel<P, B>, evidence, batch, context as ApplyContext)

type ReceiptPlace = Omit<RefundReceipt, 'agentId' | 'amountCents'>

/**
 * Refunds a payment that was captured at once. The payee has posted the money, and the intent stays completed
 * by its one payment. Limits, record, transaction and refund follow from the fact.
 */
export function refundPayment<P extends Payment, B extends PostedBatch>(
  payment: P,
  fact: FactOf<'refunded'>,
  channel: PaymentView<P, B>,
  receipt: ReceiptPlace,
  batch: B,
  context: RefundContext,
): PaymentState {
  const before = foldFacts(payment.facts)
  payment.facts = addFact(payment.facts, fact)
  const state = foldFacts(payment.facts)
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
  const isMine = intent.paymentId === payment.id || intent.transactionId === payment.transactionId
  if (isMine && (intent.paymentId || intent.transactionId)) return
  // Once this service has begun a payment on an intent, it pays that intent, even if the agent was frozen
  // since.
  const isPayable = state.isSelfInitiated
    ? intent.status === 'approved' && intent.paymentId === null
    : payments.blockerOf(intent) === undefined
  if (isPayable) payments.begin(intent, payment.id)
  else Object.assign(payment, { source: 'wallet', intentId: null })
}

function showState<P extends Payment, B extends PostedBatch>(
  payment: P,
  state: PaymentState,
  channel: PaymentView<P, B>,
  { witness }: Pick<Evidence, 'witness'>,
  batch: B,
  { emit }: RefundContext,
): TransactionRow | undefined {
  countUsage(payment, state, channel, batch)
  channel.record(payment, state, batch)
  const wanted = channel.transactionOf(payment, state)
  if (!wanted) return undefined
  const { changed, now, transactions } = batch
  const known = payment.transactionId ? transactions.get(payment.transactionId) : undefined
  const transaction = known ?? createTransaction(payment, wanted, batch, emit)
  const isMoved = moveToState(transaction, wanted, now, emit)
  const isWitnessed = witness !== null && addWitness(transaction, { ...witness, at: now.toISOString() })
  if ((isMoved || isWitnessed) && !changed.newTransactions.has(transaction))
    changed.transactions.add(transaction)
  return transaction
}

function createTransaction(
  payment: Payment,
  wanted: TransactionState,
  batch: PostedBatch,
  emit: RefundContext['emit'],
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
  { refunds: { sourceType, ...way } }: Pick<Channel<never, never>, 'refunds'>,
  batch: PaymentBatch,
  context: RefundContext,
): void {
  const source = { type: sourceType, id: payment.id }
  const receipt = { ...way, walletId: refundWallet(payment, batch), source }
  addRefund(payment, before, state, transactionId, receipt, batch, context)
  batch.refunds.link(source, transactionId, refundedOfPayment(state))
}

function addRefund(
  { agentId }: Payment,
  before: PaymentState,
  state: PaymentState,
  transactionId: string,
  receipt: ReceiptPlace,
  { refunds }: Pick<PostedBatch, 'refunds'>,
  { emit }: RefundContext,
): void {
  const amountCents = minus(state.refundedCents, before.refundedCents)
  if (amountCents === 0n) return
  const more = minOf(restOf(refundedOfPayment(state), refundedOfPayment(before)), amountCents)
  refunds.record(transactionId, { agentId, amountCents, ...receipt }, more, emit)
}

function moveIntent(
  payment: Payment,
  before: PaymentState,
  state: PaymentState,
  transaction: TransactionRow | undefined,
  batch: PaymentBatch,
  context: ApplyContext,
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
  context: ApplyContext,
): void {
  const step = intentStepOf(state, payment.id, intent.paymentId)
  if (step === 'begin') payments.begin(intent, payment.id)
  if (step === 'free') payments.cancel(intent, context)
  if (step === 'complete' && transaction) payments.complete(intent, transaction.id, context)
}
