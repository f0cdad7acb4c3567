import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import type { ChargeFailureReason, ChargeState } from '../../ports/funding-rail.ts'
import { addMs, utcDay } from '../../values/clock.ts'
import { addCents, type Cents, minOf, NO_CENTS, subtractCents } from '../../values/money.ts'
import { postToSuspense, recordSuspenseCredit, repayWalletDebt } from '../incoming/index.ts'
import { DEBT_ACCOUNTS, FORCED_DEBIT_ACCOUNTS, type LockedBook, lockBook } from '../ledger/index.ts'
import { type WalletRow, walletEvent, walletsById } from '../wallets/index.ts'
import type { fundingsApi } from './api.ts'
import {
  FIRST_FUNDING_CHECK_MS,
  Funding,
  fundingMachine,
  isFundingPending,
  nextFundingCheckDelay,
  SILENT_FUNDING_CHECK_MS,
} from './funding.ts'

type Outcomes = (typeof fundingsApi.act)['emits']
type Returns = (typeof fundingsApi.follow)['emits']

export const fundingEvent = ({ id, walletId, paymentMethodId, status, amountCents, reason }: Funding) => ({
  fundingId: id,
  walletId,
  paymentMethodId,
  status,
  amountCents,
  ...(reason && { reason: reason.message }),
})

const WALLET_CLOSED: ChargeFailureReason = {
  code: 'wallet_closed',
  message: 'The wallet was closed in the meantime.',
}
const NEVER_ARRIVED: ChargeFailureReason = {
  code: 'never_arrived',
  message: 'The processor does not know the charge.',
}

interface FundingIds {
  readonly id: string
  readonly walletId: string
}

/** Does nothing if the funding has ended otherwise. What was taken back had arrived before. */
export async function applyFundingChargeState(
  ids: FundingIds,
  state: ChargeState,
  context: WriteContext<Returns>,
): Promise<Funding> {
  const { status } = state
  if (status === 'settled' || status === 'returned') {
    const funding = await creditFundedWallet(await lockFundingForCredit(ids, context), context)
    if (status === 'returned') await applyReturns(ids, state, context)
    return funding
  }
  const funding = await lockFunding(ids.id, context)
  if (!isFundingPending(funding)) return funding
  if (state.status === 'failed') return failFunding(funding, state.reason, context)
  if (state.status === 'unknown' || state.status === 'silent')
    return checkAgainLater(funding, state.status, context)
  return recordProgress(funding, state, context)
}

async function lockFunding(id: string, { em }: WriteContext): Promise<Funding> {
  const funding = await em.findOne(Funding, { id }, FOR_UPDATE)
  if (!funding) throw new Error(`there is no funding ${id}`)
  return funding
}

interface LockedFunding {
  readonly book: LockedBook
  readonly wallet: WalletRow
  readonly funding: Funding
}

/**
 * Locks accounts before the funding, as everywhere. Reads the wallet under that lock, so that it cannot be
 * closed meanwhile.
 */
async function lockWithAccounts(
  { id, walletId }: FundingIds,
  accounts: Pick<Parameters<typeof lockBook>[2], 'others' | 'ifExists'>,
  context: WriteContext,
): Promise<LockedFunding> {
  const { sql, tenant } = context
  const [book, wallets, funding] = await Promise.all([
    lockBook(sql, context, { wallets: [walletId], ...accounts }),
    walletsById(sql, tenant, [walletId]),
    lockFunding(id, context),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet) throw new Error(`${id}: a funding without its wallet`)
  return { book, wallet, funding }
}

export const lockFundingForCredit = (ids: FundingIds, context: WriteContext): Promise<LockedFunding> =>
  lockWithAccounts(ids, { others: ['bank'], ifExists: DEBT_ACCOUNTS }, context)

/** Does nothing if the funding has ended. */
export async function creditFundedWallet(
  { book, wallet, funding }: LockedFunding,
  context: WriteContext<Outcomes>,
): Promise<Funding> {
  const { sql, now, emit, queueStatement } = context
  if (!isFundingPending(funding)) return funding
  if (wallet.status === 'closed') return creditSuspenseInstead(funding, context)
  const { id, amountCents } = funding
  const cause = { type: 'funding', id }
  book.move('fund', 'bank', wallet.id, amountCents, cause)
  markSettled(funding, now)
  emit('funding.settled', fundingEvent(funding))
  emit('wallet.funded', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
  repayWalletDebt(wallet, amountCents, cause, book, emit)
  queueStatement(book.post(sql))
  return funding
}

function markSettled(funding: Funding, now: Date): void {
  fundingMachine.move(funding, 'settled')
  Object.assign(funding, { settledAt: now, dueAt: null, nextAction: null })
}

/**
 * Books the money for a closed wallet into suspense. A funding without a payment method has charged nothing,
 * and fails.
 */
async function creditSuspenseInstead(funding: Funding, context: WriteContext<Outcomes>): Promise<Funding> {
  const { now, emit } = context
  if (!funding.paymentMethodId) return failFunding(funding, WALLET_CLOSED, context)
  const credit = await postToSuspense(creditOf(funding, now), 'wallet_closed', context)
  funding.creditId = credit.id
  markSettled(funding, now)
  emit('funding.settled', fundingEvent(funding))
  return funding
}

const creditOf = ({ id, ownerId, amountCents }: Funding, now: Date): ReceivedCredit => ({
  amountCents,
  source: 'funding',
  origin: ownerId,
  bankReference: id,
  part: 0,
  iban: null,
  reference: id,
  senderName: null,
  senderIban: null,
  endToEndId: null,
  valueDate: utcDay(now),
  reason: null,
})

export function failFunding(
  funding: Funding,
  reason: ChargeFailureReason,
  { emit }: EmitContext<Outcomes>,
): Funding {
  fundingMachine.move(funding, 'failed')
  Object.assign(funding, { reason, dueAt: null, nextAction: null })
  emit('funding.failed', fundingEvent(funding))
  return funding
}

/**
 * Waits twice as long after each check. A charge that the processor does not know after a day fails; without an
 * answer it may have been made, and a direct debit is under way for days.
 */
function checkAgainLater(
  funding: Funding,
  status: 'unknown' | 'silent',
  context: EmitContext<Outcomes>,
): Funding {
  const { now } = context
  if (funding.dueAt && funding.dueAt > now) return funding
  const pause = nextFundingCheckDelay(now.getTime() - funding.createdAt.getTime())
  if (pause === undefined && status === 'unknown') return failFunding(funding, NEVER_ARRIVED, context)
  funding.dueAt = addMs(now, pause ?? SILENT_FUNDING_CHECK_MS)
  return funding
}

function recordProgress(
  funding: Funding,
  state: Extract<ChargeState, { askAgainAt: Date }>,
  { now, emit }: EmitContext<Outcomes>,
): Funding {
  const soonest = addMs(now, FIRST_FUNDING_CHECK_MS)
  funding.dueAt = state.askAgainAt > soonest ? state.askAgainAt : soonest
  funding.nextAction = state.status === 'requires_action' ? state.nextAction : null
  const moved = fundingMachine.move(funding, state.status)
  if (moved) emit(`funding.${state.status}`, fundingEvent(funding))
  return funding
}

const RETURN_ACCOUNTS = { others: [...FORCED_DEBIT_ACCOUNTS, 'suspense'] } as const

/** A posting has a cause of its own: the first is named by the funding, a later one also by the sum so far. */
const causeIdOf = ({ id }: Funding, before: Cents, sum: Cents): string =>
  before === 0n ? id : `${id}/${sum}`

interface Reversal {
  readonly reason: ChargeFailureReason
  /** All that was ever taken. */
  readonly takenCents: Cents
  readonly givenCents: Cents
}

/**
 * The payer's bank has taken the money back. If the wallet has spent it, the owner owes the missing amount.
 * Holds for payments stay. A processor states all that was ever taken: an older statement changes nothing, and what
 * exceeds the funding is not its owner's. Returns false if there is nothing to reverse.
 */
function reverse(
  { book, wallet, funding }: LockedFunding,
  { reason, takenCents, givenCents }: Reversal,
  { now, emit }: EmitContext<(typeof fundingsApi.reverse)['emits']>,
): boolean {
  const before = funding.reversedCents ?? NO_CENTS
  const sum = minOf(takenCents, addCents(funding.amountCents, givenCents))
  const more = subtractCents(sum, before)
  if (more <= 0n || isFundingPending(funding) || funding.status === 'failed') return false
  fundingMachine.move(funding, 'reversed')
  const cause = { type: 'funding', id: causeIdOf(funding, before, sum) }
  const owed = book.forceDebit('fund_reversal', wallet.id, 'bank', more, cause)
  funding.reinstatedCents ??= NO_CENTS
  Object.assign(funding, { reversedAt: now, reversedCents: sum, reason })
  emit('funding.reversed', { ...fundingEvent(funding), owedCents: owed })
  const taken = subtractCents(more, owed)
  if (taken > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, taken))
  return true
}

export async function reverseFunding(
  ids: FundingIds,
  message: string,
  context: ContextOf<typeof fundingsApi.reverse>,
) {
  const { sql, queueStatement, refuse } = context
  const locked = await lockWithAccounts(ids, RETURN_ACCOUNTS, context)
  const { book, funding } = locked
  const all = { takenCents: funding.amountCents, givenCents: NO_CENTS }
  const isReversed = reverse(locked, { ...all, reason: { code: 'reversed', message } }, context)
  queueStatement(book.post(sql))
  return isReversed ? funding : refuse('funding_not_settled')
}

/** Books what was taken and given since the last statement: both may happen more than once. */
async function applyReturns(
  ids: FundingIds,
  returned: Reversal,
  context: WriteContext<Returns>,
): Promise<void> {
  const { sql, queueStatement } = context
  const locked = await lockWithAccounts(ids, RETURN_ACCOUNTS, context)
  reverse(locked, returned, context)
  reinstate(locked, returned.givenCents, context)
  queueStatement(locked.book.post(sql))
}

/** The payer's bank has given money back. Does nothing if none was taken. */
function reinstate(
  { book, wallet, funding }: LockedFunding,
  givenCents: Cents,
  context: WriteContext<Returns>,
): void {
  const { now, emit } = context
  const { reversedCents, reinstatedCents } = funding
  if (reversedCents === null || reinstatedCents === null) return
  const sum = minOf(givenCents, reversedCents)
  const amountCents = subtractCents(sum, reinstatedCents)
  if (amountCents <= 0n) return
  funding.reinstatedCents = sum
  if (sum === reversedCents) fundingMachine.move(funding, 'reinstated')
  emit('funding.reinstated', { ...fundingEvent(funding), reinstatedCents: amountCents })
  const cause = { type: 'funding_reinstatement', id: causeIdOf(funding, reinstatedCents, sum) }
  if (wallet.status === 'closed') {
    const received = { ...creditOf(funding, now), bankReference: cause.id, amountCents, part: 1 }
    recordSuspenseCredit(received, 'wallet_closed', book, context)
    return
  }
  book.move('fund_reinstated', 'bank', wallet.id, amountCents, cause)
  emit('wallet.funded', walletEvent(wallet, book.balance(wallet.id).posted, amountCents))
  repayWalletDebt(wallet, amountCents, cause, book, emit)
}
