import type { ContextOf } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import type { ChargeState, FailureReason } from '../../ports/funding-rail.ts'
import { after } from '../../values/clock.ts'
import { creditSuspense, repayDebt } from '../incoming/index.ts'
import { DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { walletEvent, walletsById } from '../wallets/index.ts'
import type { fundApi } from './api.ts'
import { FIRST_CHECK_AFTER, Funding, fundingMachine, isUnderWay, nextCheckAfter } from './funding.ts'

export type Settling = Pick<ContextOf<typeof fundApi.follow>, 'em' | 'sql' | 'tenant' | 'now' | 'emit'>

export const fundingEvent = ({ id, walletId, paymentMethodId, status, amountEuros, reason }: Funding) => ({
  fundingId: id,
  walletId,
  paymentMethodId,
  status,
  amountEuros,
  ...(reason && { reason: reason.message }),
})

const CLOSED: FailureReason = { code: 'wallet_closed', message: 'The wallet was closed meanwhile.' }
const NEVER_ARRIVED: FailureReason = {
  code: 'never_arrived',
  message: 'The processor has not heard of the charge.',
}

/** Records what has become of a funding; whoever comes second finds it ended, and changes nothing. */
export async function settle(id: string, state: ChargeState, context: Settling): Promise<Funding> {
  if (state.status === 'settled') return creditWallet(id, context)
  const funding = await lockFunding(id, context)
  if (!isUnderWay(funding)) return funding
  if (state.status === 'failed') return fail(funding, state.reason, context)
  if (state.status === 'unknown') return checkAgainLater(funding, context)
  return recordProgress(funding, state, context)
}

export async function lockFunding(id: string, { em }: Pick<Settling, 'em'>): Promise<Funding> {
  const funding = await lock(em, Funding, id)
  if (!funding) throw new Error(`there is no funding ${id}`)
  return funding
}

/** The accounts are locked before the funding, as everywhere; the wallet is read once it cannot be closed any more. */
async function creditWallet(id: string, context: Settling): Promise<Funding> {
  const { em, sql, tenant, now, emit } = context
  const { walletId } = await em.findOneOrFail(Funding, { id })
  const book = await openBook(sql, context, {
    wallets: [walletId],
    others: ['bank'],
    ifExists: DEBT_ACCOUNTS,
  })
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const funding = await lockFunding(id, context)
  if (!isUnderWay(funding) || !wallet) return funding
  if (wallet.status === 'closed') return creditSuspenseInstead(funding, context)
  const { amountEuros } = funding
  const cause = { type: 'funding', id }
  book.move('fund', 'bank', walletId, amountEuros, cause)
  markSettled(funding, now)
  emit('funding.settled', fundingEvent(funding))
  emit('wallet.funded', walletEvent(wallet, book.balance(walletId).posted, amountEuros))
  repayDebt(wallet, amountEuros, cause, book, emit)
  await book.post(sql)
  return funding
}

function markSettled(funding: Funding, now: Date): void {
  fundingMachine.move(funding, 'settled')
  Object.assign(funding, { settledAt: now, dueAt: null, nextAction: null })
}

/** What was drawn waits to be assigned; where nothing was drawn, nothing comes. */
async function creditSuspenseInstead(funding: Funding, context: Settling): Promise<Funding> {
  const { now, tenant, emit } = context
  if (!funding.paymentMethodId) return fail(funding, CLOSED, context)
  const { id, amountEuros } = funding
  const from = {
    source: 'funding',
    origin: tenant.ownerId,
    bankReference: id,
    part: 0,
    reference: id,
  } as const
  const sender = { iban: null, senderName: null, senderIban: null, endToEndId: null, reason: null }
  const valueDate = now.toISOString().slice(0, 10)
  const arrived = { ...from, ...sender, amountEuros, valueDate }
  funding.creditId = (await creditSuspense(arrived, 'wallet_closed', context)).id
  markSettled(funding, now)
  emit('funding.settled', fundingEvent(funding))
  return funding
}

function fail(funding: Funding, reason: FailureReason, { emit }: Pick<Settling, 'emit'>): Funding {
  fundingMachine.move(funding, 'failed')
  Object.assign(funding, { reason, dueAt: null, nextAction: null })
  emit('funding.failed', fundingEvent(funding))
  return funding
}

/** Each time it is waited for twice as long, and in the end no more. */
function checkAgainLater(funding: Funding, context: Pick<Settling, 'now' | 'emit'>): Funding {
  const { now } = context
  if (funding.dueAt && funding.dueAt > now) return funding
  const pause = nextCheckAfter(now.getTime() - funding.createdAt.getTime())
  if (pause === undefined) return fail(funding, NEVER_ARRIVED, context)
  funding.dueAt = after(now, pause)
  return funding
}

function recordProgress(
  funding: Funding,
  state: Extract<ChargeState, { askAgainAt: Date }>,
  { now, emit }: Pick<Settling, 'now' | 'emit'>,
): Funding {
  const soonest = after(now, FIRST_CHECK_AFTER)
  funding.dueAt = state.askAgainAt > soonest ? state.askAgainAt : soonest
  funding.nextAction = state.status === 'requires_action' ? state.nextAction : null
  const moved = fundingMachine.move(funding, state.status)
  // That it goes on as it has begun is news once: to whoever has only been told that it was made.
  if (moved) emit(`funding.${state.status}`, fundingEvent(funding))
  return funding
}
