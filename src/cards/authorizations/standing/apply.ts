import type { IntentRow, paidEvents } from '../../../control/intents/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import type { arrivedEvents } from '../../../money/refunds/index.ts'
import {
  addWitness,
  moveCardTransaction,
  newCardTransaction,
  type TransactionRow,
} from '../../../money/transactions/index.ts'
import { after, days } from '../../../values/clock.ts'
import { cardProcess } from '../../cards/index.ts'
import { authorizationMachine } from '../authorization.ts'
import type { AuthorizationRow } from '../authorization-rows.ts'
import type { CardBatch } from '../batch.ts'
import { type Facts, type Standing, standingOf } from './facts.ts'
import { countUse, coveringIntent, moveMoney, type Postings } from './payment.ts'
import { recordRefunds } from './refunds.ts'
import { declineReasonOf, paymentStateOf, statusOf } from './standing-status.ts'

export type ApplyContext = Pick<Context<never, typeof arrivedEvents & typeof paidEvents>, 'emit' | 'wake'>

/** What speaks for the payment now: a message of the network, a checkout's confirmation. */
export interface Evidence {
  readonly type: string
  readonly id: string
}

/** How long the network keeps a hold, by the trade of the merchant. */
const HOLD_DAYS = 7
const LONG_HOLD_DAYS = 31
/** Lodging, cruises, car hire: single codes, and the ranges of hotels, airlines' hotels and car rentals. */
const isLongHeld = (mcc: string | null): boolean =>
  mcc !== null &&
  (/^(?:3[3-4]\d\d|3[5-9]\d\d)$/.test(mcc) || ['4411', '7011', '7012', '7512', '7513', '7519'].includes(mcc))

/** Applies what has become known of a payment: money, limits, the intent, the transaction and the record follow from it. */
export function applyFacts(
  row: AuthorizationRow,
  facts: Facts,
  evidence: Evidence,
  batch: CardBatch,
  postings: Postings,
  context: ApplyContext,
): void {
  const before = standingOf(row.facts)
  const known = { facts: row.facts, standing: before }
  const standing = standingOf(facts)
  row.facts = facts
  takeBackIntent(row, standing, batch)
  moveMoney(row, standing, batch, postings)
  countUse(row, standing, batch)
  chargeToken(row, standing, batch)
  record(row, standing, batch)
  const transaction = updateTransaction(row, standing, evidence, batch, context)
  if (transaction) recordRefunds(row, known, standing, transaction.id, batch, context)
  settleIntent(row, before, standing, transaction, batch, context)
  if (standing.isOver && standing.clearedEuros > 0n) endSingleUse(row, batch, context)
}

/** A payment that is paid after all, once it was given back, has its intent no more, where another payment has taken it. */
function takeBackIntent(row: AuthorizationRow, { capturedEuros }: Standing, batch: CardBatch): void {
  const intent = coveringIntent(row, batch)
  if (!intent || capturedEuros === 0n) return
  const isMine = intent.paymentId === row.id || intent.transactionId === row.transactionId
  if (isMine && (intent.paymentId || intent.transactionId)) return
  if (mayTake(intent, row, batch)) batch.payments.begin(intent, row.id)
  else Object.assign(row, { source: 'wallet', intentId: null })
}

/** An intent that a machine payment was begun on pays it, if it is still there, also where the agent is frozen by now. */
const mayTake = (intent: IntentRow, { facts }: AuthorizationRow, { payments }: CardBatch): boolean =>
  facts.begun === undefined
    ? payments.blockerOf(intent) === undefined
    : intent.status === 'approved' && intent.paymentId === null

/** Counts what a network token pays beyond what the record says, and gives back what it has not paid after all. */
function chargeToken(row: AuthorizationRow, standing: Standing, batch: CardBatch): void {
  if (row.networkTokenId === null) return
  const change = standing.heldEuros + standing.capturedEuros - row.heldEuros - row.capturedEuros
  const { credentials, now } = batch
  const isIncrement = row.approvedEuros > 0n
  if (change > 0n) credentials.charge(row.networkTokenId, change, now, { isIncrement })
  if (change < 0n) credentials.giveBack(row.networkTokenId, -change, now)
}

function record(row: AuthorizationRow, standing: Standing, { now, changed }: CardBatch): void {
  const asked = row.facts.asks.reduce((sum, { asked }) => sum + BigInt(asked), 0n)
  const { clearedEuros, refundedEuros, confirmedEuros } = standing
  const begun = BigInt(row.facts.begun ?? 0)
  const isPartlyCleared = clearedEuros > 0n && standing.pendingEuros > 0n
  const isAwaited = standing.heldEuros > 0n || standing.capturedEuros > clearedEuros || isPartlyCleared
  const isOpen = !standing.isOver && isAwaited
  row.declineReason = declineReasonOf(row, standing)
  authorizationMachine.move(row, statusOf(standing, row))
  Object.assign(row, {
    updatedAt: now,
    amountEuros: asked || clearedEuros || confirmedEuros || begun || refundedEuros,
    approvedEuros: standing.approvedEuros,
    heldEuros: standing.heldEuros,
    capturedEuros: standing.capturedEuros,
    clearedEuros,
    refundedEuros,
    expiresAt: isOpen ? (row.expiresAt ?? after(now, days(daysHeld(row, standing)))) : null,
  })
  if (!changed.newAuthorizations.has(row)) changed.authorizations.add(row)
}

const daysHeld = ({ mcc }: AuthorizationRow, { confirmedEuros }: Standing): number =>
  confirmedEuros !== null || isLongHeld(mcc) ? LONG_HOLD_DAYS : HOLD_DAYS

function updateTransaction(
  row: AuthorizationRow,
  standing: Standing,
  { type, id }: Evidence,
  batch: CardBatch,
  { emit }: ApplyContext,
): TransactionRow | undefined {
  const state = paymentStateOf(row, standing)
  if (!state) return undefined
  const { changed, now, transactions } = batch
  const known = row.transactionId ? transactions.get(row.transactionId) : undefined
  const transaction = known ?? newTransaction(row, state, batch, emit)
  const isMoved = moveCardTransaction(transaction, state, now, emit)
  const isWitnessed = addWitness(transaction, { type, id, at: now.toISOString() })
  if ((isMoved || isWitnessed) && !changed.newTransactions.has(transaction))
    changed.transactions.add(transaction)
  return transaction
}

function newTransaction(
  row: AuthorizationRow,
  state: NonNullable<ReturnType<typeof paymentStateOf>>,
  batch: CardBatch,
  emit: ApplyContext['emit'],
): TransactionRow {
  const intent = coveringIntent(row, batch)
  const { agentId, cardId, walletId, merchant, mcc, country } = row
  const members = { agentId, cardId, walletId, runId: intent?.runId ?? null, merchant, mcc, country }
  const transaction = newCardTransaction(members, state, batch, emit)
  row.transactionId = transaction.id
  batch.transactions.set(transaction.id, transaction)
  batch.changed.newTransactions.add(transaction)
  return transaction
}

/** The intent is being paid while something is held or not known yet, completed by the first money that leaves, and free if none did. */
function settleIntent(
  row: AuthorizationRow,
  before: Standing,
  standing: Standing,
  transaction: TransactionRow | undefined,
  batch: CardBatch,
  context: ApplyContext,
): void {
  const intent = coveringIntent(row, batch)
  if (!intent) return
  const { payments, book } = batch
  const openEuros = standing.heldEuros + standing.pendingEuros
  if (intent.status === 'approved') {
    if (standing.capturedEuros > 0n && transaction) payments.completeWith(intent, transaction.id, context)
    else if (intent.paymentId === null && openEuros > 0n) payments.begin(intent, row.id)
    else if (intent.paymentId === row.id && openEuros === 0n) payments.cancel(intent, context)
  }
  const isDone = standing.isOver || (standing.confirmedEuros !== null && before.confirmedEuros === null)
  if (intent.status === 'completed' && intent.transactionId === transaction?.id && isDone)
    payments.releaseRest(intent, book, context)
}

/** A card for one payment closes after the last clearing of that payment: its process does it. */
function endSingleUse(row: AuthorizationRow, batch: CardBatch, { wake }: ApplyContext): void {
  const card = row.cardId && batch.singleUse.has(row.cardId) ? row.cardId : null
  if (card === null) return
  batch.spent.add(card)
  wake(cardProcess, { id: card, agentId: row.agentId })
}
