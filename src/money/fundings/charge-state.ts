import type { ReceivedCredit } from '../../iso20022/credit.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { ChargeFailureReason, ChargeState } from '../../ports/funding-rail.ts'
import { addMs, utcDay } from '../../values/clock.ts'
import { type Cents, minOf, NO_CENTS, subtractCents } from '../../values/money.ts'
import { postToSuspense, repayWalletDebt } from '../incoming/index.ts'
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

type Settling = Pick<
  ContextOf<typeof fundingsApi.follow>,
  'records' | 'sql' | 'tenant' | 'now' | 'emit' | 'queueStatement'
>

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
  context: Settling,
): Promise<Funding> {
  const { status } = state
  if (status === 'settled' || status === 'reversed' || status === 'reinstated') {
    const funding = await creditFundedWallet(await lockFundingForCredit(ids, context), context)
    if (status === 'reversed') await reverse(ids, state, context)
    if (status === 'reinstated') await reinstate(ids, context)
    return funding
  }
  const funding = await lockFunding(ids.id, context)
  if (!isFundingPending(funding)) return funding
  if (state.status === 'failed') return failFunding(funding, state.reason, context)
  if (state.status === 'unknown' || state.status === 'silent')
    return checkAgainLater(funding, state.status, context)
  return recordProgress(funding, state, context)
}

async function lockFunding(id: string, { records }: Pick<Settling, 'records'>): Promise<Funding> {
  const funding = await records.lock(Funding, id)
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
  context: Pick<Settling, 'records' | 'sql' | 'tenant' | 'now'>,
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

export const lockFundingForCredit = (
  ids: FundingIds,
  context: Pick<Settling, 'records' | 'sql' | 'tenant' | 'now'>,
): Promise<LockedFunding> => lockWithAccounts(ids, { others: ['bank'], ifExists: DEBT_ACCOUNTS }, context)

/** Does nothing if the funding has ended. */
export async function creditFundedWallet(
  { book, wallet, funding }: LockedFunding,
  context: Settling,
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
async function creditSuspenseInstead(funding: Funding, context: Settling): Promise<Funding> {
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
  { emit }: Pick<Settling, 'emit'>,
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
  context: Pick<Settling, 'now' | 'emit'>,
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
  { now, emit }: Pick<Settling, 'now' | 'emit'>,
): Funding {
  const soonest = addMs(now, FIRST_FUNDING_CHECK_MS)
  funding.dueAt = state.askAgainAt > soonest ? state.askAgainAt : soonest
  funding.nextAction = state.status === 'requires_action' ? state.nextAction : null
  const moved = fundingMachine.move(funding, state.status)
  if (moved) emit(`funding.${state.status}`, fundingEvent(funding))
  return funding
}

type Reversing = ContextOf<typeof fundingsApi.reverse>

interface Reversal {
  readonly reason: ChargeFailureReason
  /** All of it by default. */
  readonly amountCents?: Cents
}

/**
 * The payer's bank has taken the money back. If the wallet has spent it, the owner owes the missing amount.
 * Holds for payments stay. A chargeback after a partial refund takes what is missing: the processor states the
 * sum. Returns undefined if there is nothing to reverse.
 */
async function reverse(
  ids: FundingIds,
  { reason, amountCents }: Reversal,
  context: Pick<Settling, 'records' | 'sql' | 'tenant' | 'now' | 'queueStatement'> & Pick<Reversing, 'emit'>,
): Promise<Funding | undefined> {
  const { sql, now, emit, queueStatement } = context
  const { book, wallet, funding } = await lockWithAccounts(ids, { others: FORCED_DEBIT_ACCOUNTS }, context)
  const { id, reversedCents: before } = funding
  const gone = minOf(amountCents ?? funding.amountCents, funding.amountCents)
  const isMore =
    funding.status === 'reversed' && before !== null && amountCents !== undefined && gone > before
  if (!isMore && !fundingMachine.move(funding, 'reversed')) return undefined
  const more = subtractCents(gone, before ?? NO_CENTS)
  const cause = { type: 'funding', id: isMore ? `${id}/${gone}` : id }
  const owed = book.forceDebit('fund_reversal', wallet.id, 'bank', more, cause)
  queueStatement(book.post(sql))
  Object.assign(funding, { reversedAt: now, reversedCents: gone, reason })
  emit('funding.reversed', { ...fundingEvent(funding), owedCents: owed })
  const taken = subtractCents(more, owed)
  if (taken > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, taken))
  return funding
}

export const reverseFunding = async (ids: FundingIds, message: string, context: Reversing) =>
  (await reverse(ids, { reason: { code: 'reversed', message } }, context)) ??
  context.refuse('funding_not_settled')

/** The payer's bank has given the money back. Does nothing if none was taken. */
async function reinstate(ids: FundingIds, context: Settling): Promise<void> {
  const { sql, now, emit, queueStatement } = context
  const { book, wallet, funding } = await lockFundingForCredit(ids, context)
  if (!fundingMachine.move(funding, 'reinstated')) return
  const { id, reversedCents } = funding
  if (reversedCents === null) throw new Error(`${id}: a reversed funding without an amount`)
  emit('funding.reinstated', fundingEvent(funding))
  if (wallet.status === 'closed') {
    const received = { ...creditOf(funding, now), amountCents: reversedCents, part: 1 }
    await postToSuspense(received, 'wallet_closed', context)
    return
  }
  const cause = { type: 'funding_reinstatement', id }
  book.move('fund_reinstated', 'bank', wallet.id, reversedCents, cause)
  emit('wallet.funded', walletEvent(wallet, book.balance(wallet.id).posted, reversedCents))
  repayWalletDebt(wallet, reversedCents, cause, book, emit)
  queueStatement(book.post(sql))
}
