import {
  authorizationsOfTransactions,
  type DisputeLimitAdjustments,
  openDisputeLimitAdjustments,
} from '../../cards/authorizations/index.ts'
import { SpendLocks } from '../../control/intents/index.ts'
import { paymentReservationReferences } from '../../control/payments/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import type { LockedBook, PostingCause } from '../../money/ledger/index.ts'
import { sumRequestedRefunds } from '../../money/refunds/index.ts'
import { Transaction } from '../../money/transactions/index.ts'
import { findMainWallet, firstOpenWallet, walletsById } from '../../money/wallets/index.ts'
import {
  addCents,
  type Cents,
  cents,
  formatMoney,
  minOf,
  NO_CENTS,
  negateCents,
  remainderOf,
  subtractCents,
} from '../../values/money.ts'
import { type DisputeChange, disputeEvent, type laterEvents } from './api.ts'
import {
  bookedDisputeAmounts,
  Dispute,
  disputeClaim,
  isDisputeUndecided,
  pendingDisputeCall,
  remainingDisputedCents,
  scheduleDisputeDeadline,
} from './dispute.ts'
import { disputeProcess } from './process.ts'
import {
  type DisputeDiff,
  type DisputeState,
  type DisputeStatus,
  decodeDisputeFacts,
  diffDisputeAmounts,
  disputeMachine,
  foldDisputeFacts,
  isNetworkFact,
} from './state.ts'

export interface LockedDispute {
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly refundedOnRequest: Cents
  /** What earlier disputes of the payment have brought: the network may decide a withdrawn one later. */
  readonly broughtEarlier: Cents
  /** The payment's limits, and its fact `credited`; null if the payment counts towards no limit. */
  readonly credits: DisputeLimitAdjustments | null
  readonly book: LockedBook
  /** The wallet to credit: the paying wallet, or the main wallet; null for suspense. */
  readonly creditTo: string | null
}

/**
 * Locks the agent first, as every change of a dispute and of its payment does, then the counters, the
 * accounts and the records. Agent and transaction of a dispute never change, so they can be read before.
 */
export async function lockDispute(id: string, context: WriteContext): Promise<LockedDispute | null> {
  const { em, sql, tenant } = context
  const [known, main] = await Promise.all([em.findOne(Dispute, { id }), findMainWallet(context)])
  if (!known) return null
  const { agentId, transactionId } = known
  const locks = new SpendLocks(sql, context)
  const [, [payment]] = await Promise.all([
    locks.agents(agentId === null ? [] : [agentId]),
    authorizationsOfTransactions(sql, tenant, [transactionId]),
  ])
  const reservations = payment ? paymentReservationReferences(payment) : []
  const [{ counters, ...accounts }, transaction, dispute, onRequest, broughtEarlier] = await Promise.all([
    openDisputeAccounts(known, main?.id ?? null, locks, reservations),
    em.findOne(Transaction, { id: transactionId }, FOR_UPDATE),
    em.findOne(Dispute, { id }, FOR_UPDATE),
    sumRequestedRefunds(sql, tenant, transactionId),
    sumEarlierDisputes(sql, tenant, known),
  ])
  if (!transaction || !dispute) return null
  const credits = payment ? await openDisputeLimitAdjustments(payment, counters, context) : null
  return { ...accounts, credits, transaction, dispute, refundedOnRequest: onRequest, broughtEarlier }
}

const EARLIER = `
select coalesce(sum(counted_cents), 0)::text as cents from disputes
where owner_id = $1 and mode = $2 and transaction_id = $3 and id < $4`

export async function sumEarlierDisputes(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { id, transactionId }: Pick<Dispute, 'id' | 'transactionId'>,
): Promise<Cents> {
  const [row] = await sql<{ cents: string }>(EARLIER, [ownerId, mode, transactionId, id])
  return cents(row?.cents ?? 0)
}

const ACCOUNTS = ['bank', 'advance', 'receivable', 'suspense', 'disputes', 'losses'] as const

export async function openDisputeAccounts(
  { walletId, creditedWalletId }: Pick<Dispute, 'walletId' | 'creditedWalletId'>,
  mainId: string | null,
  locks: SpendLocks,
  reservations: readonly PostingCause[] = [],
) {
  const ids = [walletId, mainId, creditedWalletId].flatMap(id => id ?? [])
  const [{ book, counters }, wallets] = await Promise.all([
    locks.take({ reservations, wallets: ids, others: ACCOUNTS }),
    walletsById(locks.sql, locks.tenantNow.tenant, ids),
  ])
  return { book, counters, creditTo: firstOpenWallet([walletId, mainId], wallets) }
}

export type DisputeReconcileContext = WriteContext<typeof laterEvents>

export interface DisputeChangeNote {
  readonly change: DisputeChange
  readonly reason?: string
}

/**
 * The only place that changes a dispute. Derives money, status, limits, deadlines and events from the known
 * facts, and does nothing if they have not changed.
 */
export function reconcileDispute(
  locked: LockedDispute,
  context: DisputeReconcileContext,
  note?: DisputeChangeNote,
): void {
  const { dispute, transaction, credits, book } = locked
  const { sql, now, wake, queueStatement } = context
  const { status, creditedCents: creditedBefore, refundedCents } = dispute
  dispute.refundedCents = refundedSince(locked)
  const state = foldDisputeFacts(decodeDisputeFacts(dispute.facts), disputeClaim(dispute))
  moveMoney(locked, diffDisputeAmounts(bookedDisputeAmounts(dispute), state))
  const { creditedCents, recoveredCents, lostCents } = state
  Object.assign(dispute, { creditedCents, recoveredCents, lostCents })
  queueStatement(book.post(sql))
  moveStatus(dispute, state, now)
  // A provisional credit may be reversed, so the payment counts as spent until the dispute has ended.
  credits?.set(dispute.id, isDisputeUndecided(dispute) ? NO_CENTS : creditedCents)
  if (credits) queueStatement(credits.write(sql))
  const counted = isDisputeUndecided(dispute) ? remainingDisputedCents(dispute) : creditedCents
  transaction.disputedCents = addCents(
    transaction.disputedCents,
    subtractCents(counted, dispute.countedCents),
  )
  dispute.countedCents = counted
  const call = pendingDisputeCall(dispute)
  if (call === null) dispute.callDueAt = null
  else if (dispute.callDueAt === null || status !== dispute.status) dispute.callDueAt = now
  // What was asked before no longer matters. The call that follows has not been made.
  if (call === null || status !== dispute.status) dispute.unansweredSince = null
  scheduleDisputeDeadline(dispute)
  emitChanges(dispute, { status, creditedCents: creditedBefore, refundedCents }, note, context)
  wake(disputeProcess, dispute)
}

/**
 * Requested refunds belong to the undisputed part of the payment. If refunds exceed the disputed amount, no
 * claim is left. Nor is one left for what an earlier dispute has brought since: the payment comes back once.
 */
function refundedSince({ dispute, transaction, refundedOnRequest, broughtEarlier }: LockedDispute): Cents {
  const { amountCents, refundedBeforeCents } = dispute
  const unrequested = remainderOf(transaction.refundedCents, refundedOnRequest)
  const since = minOf(remainderOf(unrequested, refundedBeforeCents), amountCents)
  const left = remainderOf(transaction.amountCents, addCents(transaction.refundedCents, broughtEarlier))
  return subtractCents(amountCents, minOf(subtractCents(amountCents, since), left))
}

/** Books advances first and returns them last, so that the bank account always covers what the network takes back. */
function moveMoney(
  { dispute, book, creditTo }: LockedDispute,
  { advanceCents, creditCents, recoverCents, loseCents }: DisputeDiff,
): void {
  // Prefixed with the dispute's id, by which statements look up the merchant.
  const next = (): PostingCause => ({ type: 'dispute', id: `${dispute.id}/${dispute.postings++}` })
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
    book.forceDebit(kind, from ?? 'suspense', 'disputes', negateCents(creditCents), next())
  }
  if (recoverCents > 0n) book.move('dispute_won', 'bank', 'disputes', recoverCents, next())
  if (recoverCents < 0n) book.move('dispute_reversed', 'disputes', 'bank', negateCents(recoverCents), next())
  if (loseCents > 0n) book.move('dispute_loss', 'losses', 'disputes', loseCents, next())
  if (loseCents < 0n)
    book.move('dispute_loss_recovered', 'disputes', 'losses', negateCents(loseCents), next())
  if (advanceCents < 0n) book.move('advance_return', 'advance', 'bank', negateCents(advanceCents), next())
}

function moveStatus(dispute: Dispute, { status }: DisputeState, now: Date): void {
  const isMoved = disputeMachine.move(dispute, status)
  if (isDisputeUndecided(dispute)) return
  // The amount may still change: by a refund of the merchant, a finding, or another amount of the network.
  dispute.resolution = resolutionOf(dispute)
  const ended = { resolvedAt: now, creditDueAt: null, evidenceDueAt: null, remindAt: null }
  if (isMoved) Object.assign(dispute, ended)
}

function resolutionOf(dispute: Dispute): string {
  const kept = formatMoney(dispute.creditedCents)
  switch (dispute.status) {
    case 'won':
      return remainingDisputedCents(dispute) === 0n
        ? 'The whole disputed amount has come back.'
        : `The card network has decided for you: ${kept} stays yours.`
    case 'lost':
      return dispute.creditedCents > 0n
        ? `${lossOf(dispute)} The payment was not authorized, so ${kept} stays yours.`
        : lossOf(dispute)
    case 'withdrawn':
      return 'The dispute was withdrawn.'
    default:
      return 'Nothing was submitted before the deadline for evidence.'
  }
}

/** What the processor refuses never reaches the network. */
const lossOf = ({ facts }: Dispute): string =>
  decodeDisputeFacts(facts).findLast(isNetworkFact)?.id.startsWith('refused/')
    ? 'The card processor has refused the dispute.'
    : 'The card network has decided for the merchant.'

interface Before {
  readonly status: DisputeStatus
  readonly creditedCents: Cents
  readonly refundedCents: Cents
}

function emitChanges(
  dispute: Dispute,
  before: Before,
  note: DisputeChangeNote | undefined,
  { emit }: DisputeReconcileContext,
): void {
  const data = disputeEvent(dispute)
  const update = (change: DisputeChangeNote): void => emit('dispute.updated', { ...data, ...change })
  if (note) update(note)
  if (dispute.refundedCents !== before.refundedCents) update({ change: 'refunded' })
  if (dispute.creditedCents > before.creditedCents) update({ change: 'credited' })
  if (dispute.creditedCents < before.creditedCents) update({ change: 'taken_back' })
  if (dispute.status !== before.status && !isDisputeUndecided(dispute))
    emit('dispute.resolved', { ...data, reason: dispute.resolution ?? '' })
}
