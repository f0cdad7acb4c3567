import {
  authorizationsOfTransactions,
  type DisputeCredits,
  openDisputeCredits,
} from '../../cards/authorizations/index.ts'
import { Agent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type Book, type Cause, openBook } from '../../money/ledger/index.ts'
import { refundedOnRequest } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { firstOpenWallet, mainWallet, walletsById } from '../../money/wallets/index.ts'
import { type Cents, formatMoney, minOf, minus, NO_CENTS, negated, plus, restOf } from '../../values/money.ts'
import { type Change, disputeEvent, type disputeEvents } from './api.ts'
import { bookedBy, claimOf, Dispute, disputedRest, isUndecided, pendingCall, schedule } from './dispute.ts'
import { disputeProcess } from './process.ts'
import {
  type DisputeDiff,
  type DisputeState,
  type DisputeStatus,
  diffOf,
  disputeMachine,
  factsOf,
  foldFacts,
} from './state.ts'

type Locking = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

export interface LockedDispute {
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly refundedOnRequest: Cents
  /** The payment's limits, and its fact `credited`; null if the payment counts towards no limit. */
  readonly credits: DisputeCredits | null
  readonly book: Book
  /** The wallet to credit: the paying wallet, or the main wallet; null for suspense. */
  readonly creditTo: string | null
}

/**
 * Locks the agent first, as every change of a dispute and of its payment does, then the counters, the
 * accounts and the records. Agent and transaction of a dispute never change, so they can be read before.
 */
export async function lockDispute(id: string, context: Locking): Promise<LockedDispute | null> {
  const { records, sql, tenant, now } = context
  const [known, main] = await Promise.all([records.findOne(Dispute, { id }), mainWallet(context)])
  if (!known) return null
  const { agentId, transactionId } = known
  const [, [payment]] = await Promise.all([
    agentId === null ? null : records.lock(Agent, agentId),
    authorizationsOfTransactions(sql, tenant, [transactionId]),
  ])
  const [credits, accounts, transaction, dispute, onRequest] = await Promise.all([
    openDisputeCredits(sql, { tenant, now }, payment),
    openAccounts(known, main?.id ?? null, context),
    records.lock(Transaction, transactionId),
    records.lock(Dispute, id),
    refundedOnRequest(sql, tenant, transactionId),
  ])
  return (
    transaction && dispute && { ...accounts, credits, transaction, dispute, refundedOnRequest: onRequest }
  )
}

const ACCOUNTS = ['bank', 'advance', 'receivable', 'suspense', 'disputes', 'losses'] as const

export async function openAccounts(
  { walletId, creditedWalletId }: Pick<Dispute, 'walletId' | 'creditedWalletId'>,
  mainId: string | null,
  { sql, tenant, now }: Locking,
): Promise<Pick<LockedDispute, 'book' | 'creditTo'>> {
  const ids = [walletId, mainId, creditedWalletId].flatMap(id => id ?? [])
  const [book, wallets] = await Promise.all([
    openBook(sql, { tenant, now }, { wallets: ids, others: ACCOUNTS }),
    walletsById(sql, tenant, ids),
  ])
  return { book, creditTo: firstOpenWallet([walletId, mainId], wallets) }
}

export type ReconcileContext = Pick<
  Context<never, typeof disputeEvents>,
  'sql' | 'now' | 'emit' | 'wake' | 'queueStatement'
>

export interface ChangeNote {
  readonly change: Change
  readonly reason?: string
}

/**
 * The only place that changes a dispute. Derives money, status, limits, deadlines and events from the known
 * facts, and does nothing if they have not changed.
 */
export function reconcile(locked: LockedDispute, context: ReconcileContext, note?: ChangeNote): void {
  const { dispute, transaction, credits, book } = locked
  const { sql, now, wake, queueStatement } = context
  const { status, creditedCents: creditedBefore, refundedCents } = dispute
  dispute.refundedCents = refundedSince(locked)
  const state = foldFacts(factsOf(dispute.facts), claimOf(dispute))
  moveMoney(locked, diffOf(bookedBy(dispute), state))
  const { creditedCents, recoveredCents, lostCents } = state
  Object.assign(dispute, { creditedCents, recoveredCents, lostCents })
  queueStatement(book.post(sql))
  moveStatus(dispute, state, now)
  // A provisional credit may be reversed, so the payment counts as spent until the dispute has ended.
  credits?.set(dispute.id, isUndecided(dispute) ? NO_CENTS : creditedCents)
  if (credits) queueStatement(credits.write(sql))
  const counted = isUndecided(dispute) ? disputedRest(dispute) : creditedCents
  transaction.disputedCents = plus(transaction.disputedCents, minus(counted, dispute.countedCents))
  dispute.countedCents = counted
  const call = pendingCall(dispute)
  if (call === null) dispute.callDueAt = null
  else if (dispute.callDueAt === null || status !== dispute.status) dispute.callDueAt = now
  schedule(dispute)
  emitChanges(dispute, { status, creditedCents: creditedBefore, refundedCents }, note, context)
  wake(disputeProcess, dispute)
}

/**
 * Requested refunds belong to the undisputed part of the payment. If refunds exceed the disputed amount, no
 * claim is left.
 */
function refundedSince({ dispute, transaction, refundedOnRequest }: LockedDispute): Cents {
  const unrequested = restOf(transaction.refundedCents, refundedOnRequest)
  return minOf(restOf(unrequested, dispute.refundedBeforeCents), dispute.amountCents)
}

/** Books advances first and returns them last, so that the bank account always covers what the network takes back. */
function moveMoney(
  { dispute, book, creditTo }: LockedDispute,
  { advanceCents, creditCents, recoverCents, loseCents }: DisputeDiff,
): void {
  // Prefixed with the dispute's id, by which statements look up the merchant.
  const next = (): Cause => ({ type: 'dispute', id: `${dispute.id}/${dispute.postings++}` })
  if (advanceCents > 0n) book.move('advance', 'bank', 'advance', advanceCents, next())
  if (creditCents > 0n) {
    dispute.creditedWalletId = creditTo
    if (creditTo === null) book.move('dispute_credit_unmatched', 'disputes', 'suspense', creditCents, next())
    else {
      book.move('dispute_credit', 'disputes', creditTo, creditCents, next())
      book.repayDebt(creditTo, creditCents, next())
    }
  }
  if (creditCents < 0n) {
    const from = dispute.creditedWalletId
    const kind = from === null ? 'dispute_lost_unmatched' : 'dispute_lost'
    book.forceDebit(kind, from ?? 'suspense', 'disputes', negated(creditCents), next())
  }
  if (recoverCents > 0n) book.move('dispute_won', 'bank', 'disputes', recoverCents, next())
  if (recoverCents < 0n) book.move('dispute_reversed', 'disputes', 'bank', negated(recoverCents), next())
  if (loseCents > 0n) book.move('dispute_loss', 'losses', 'disputes', loseCents, next())
  if (loseCents < 0n) book.move('dispute_loss_recovered', 'disputes', 'losses', negated(loseCents), next())
  if (advanceCents < 0n) book.move('advance_return', 'advance', 'bank', negated(advanceCents), next())
}

function moveStatus(dispute: Dispute, { status }: DisputeState, now: Date): void {
  if (!disputeMachine.move(dispute, status) || isUndecided(dispute)) return
  Object.assign(dispute, {
    resolvedAt: now,
    resolution: resolutionOf(dispute),
    creditDueAt: null,
    evidenceDueAt: null,
    remindAt: null,
  })
}

function resolutionOf(dispute: Dispute): string {
  const kept = formatMoney(dispute.creditedCents)
  switch (dispute.status) {
    case 'won':
      return disputedRest(dispute) === 0n
        ? 'The merchant has refunded the whole disputed amount.'
        : `The card network has decided for you: ${kept} stay yours.`
    case 'lost':
      return dispute.creditedCents > 0n
        ? `The card network has decided for the merchant. The payment was not authorized, so ${kept} stay yours.`
        : 'The card network has decided for the merchant.'
    case 'withdrawn':
      return 'It was withdrawn.'
    default:
      return 'Nothing was submitted before the deadline for evidence.'
  }
}

interface Before {
  readonly status: DisputeStatus
  readonly creditedCents: Cents
  readonly refundedCents: Cents
}

function emitChanges(
  dispute: Dispute,
  before: Before,
  note: ChangeNote | undefined,
  { emit }: Pick<ReconcileContext, 'emit'>,
): void {
  const data = disputeEvent(dispute)
  const update = (change: ChangeNote): void => emit('dispute.updated', { ...data, ...change })
  if (note) update(note)
  if (dispute.refundedCents !== before.refundedCents) update({ change: 'refunded' })
  if (dispute.creditedCents > before.creditedCents) update({ change: 'credited' })
  if (dispute.creditedCents < before.creditedCents) update({ change: 'taken_back' })
  if (dispute.status !== before.status && !isUndecided(dispute))
    emit('dispute.resolved', { ...data, reason: dispute.resolution ?? '' })
}
