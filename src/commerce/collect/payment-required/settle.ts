import type { Context } from '../../../kernel/contract/context.ts'
import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import { externalCall } from '../../../kernel/contract/operation.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { lockTenant } from '../../../kernel/database/tenant-lock.ts'
import { accountsToCollect, collectCharge } from '../../../money/incoming/index.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { writeReceipt } from '../../../mpp/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import type { paymentEvents } from '../events.ts'
import {
  addPayment,
  beginPayment,
  failPayment,
  type LockedRequest,
  lockRequest,
  paymentUnderWay,
  writeRequests,
} from '../payments.ts'
import { dueEuros, isPayable } from '../request.ts'
import { settlementsApi } from './api.ts'
import type { Article } from './offer.ts'
import type { settledEvents } from './settled-events.ts'
import { askAgainLater, externalIdOf, firstDueAt, Settlement, settlementMachine } from './settlement.ts'

/** A charge that is to begin. */
export interface Beginning
  extends Pick<Settlement, 'challengeId' | 'credentialDigest' | 'network' | 'last4' | 'handle'> {
  readonly subject: Article['subject']
  readonly amountEuros: Settlement['amountEuros']
  readonly descriptor: string
}

type BeginContext = Context<never, typeof paymentEvents>

/** A charge that has begun, or why it does not: another one has, or what is to be paid has changed meanwhile. */
type Begun =
  | { readonly settlement: Settlement }
  | { readonly known: Settlement }
  | 'payment_under_way'
  | 'changed'

/**
 * Stores a charge before anything is sent, so that it is made once: whoever comes with the same challenge finds it. The
 * caller commits, and charges under the id of the challenge.
 */
export async function beginSettlement(beginning: Beginning, context: BeginContext): Promise<Begun> {
  const { challengeId, subject } = beginning
  // Sent right behind the lock, so it reads what whoever had the lock before has left.
  const [locked, known] = await Promise.all([
    lockSubject(subject, challengeId, context),
    settlementOf(challengeId, context),
  ])
  if (known) return { known }
  const blocker = locked && blockerOf(locked, beginning, context.now)
  if (blocker) return blocker
  const settlement = newSettlement(beginning, locked, context)
  if (locked) context.sendAlong(writeRequests(context.sql, context.tenant, [locked]))
  return { settlement }
}

/** The settlement of a challenge, if there is one. */
export const settlementOf = (
  challengeId: string,
  { records }: Pick<BeginContext, 'records'>,
): Promise<Settlement | null> => records.findOne(Settlement, { challengeId })

/** Whoever pays the same thing at once waits here. */
async function lockSubject(
  { requestId }: Article['subject'],
  challengeId: string,
  context: BeginContext,
): Promise<LockedRequest | undefined> {
  if (requestId !== null) return lockRequest(requestId, context)
  await lockTenant(context, `settlement ${challengeId}`)
  return undefined
}

/** Why a charge for a request does not begin: another one has, or what is to be paid has changed. */
export function blockerOf(
  locked: LockedRequest,
  { amountEuros }: Pick<Beginning, 'amountEuros'>,
  now: Date,
): 'payment_under_way' | 'changed' | undefined {
  if (paymentUnderWay(locked)) return 'payment_under_way'
  const { request } = locked
  return isPayable(request, now) && dueEuros(request) === amountEuros ? undefined : 'changed'
}

/** A charge that is to be stored; the caller writes the request that it pays. */
export function newSettlement(
  { subject, ...members }: Beginning,
  locked: LockedRequest | undefined,
  context: Pick<BeginContext, 'records' | 'tenant' | 'now' | 'emit' | 'wake'>,
): Settlement {
  const { records, now } = context
  const id = newId('settlement')
  const settlement = records.create(Settlement, { id, ...subject, ...members, dueAt: firstDueAt(now) })
  if (locked) {
    const { amountEuros, walletId } = settlement
    const at = walletId === null ? {} : { walletId }
    beginPayment(locked, { way: 'card', amountEuros, sourceId: id, ...at }, context)
  }
  return settlement
}

/** The charge of a settlement as the acquirer is told it, the token apart. */
export const chargeOf = ({ handle, amountEuros, challengeId, descriptor }: Settlement) => ({
  handle,
  amountEuros,
  reference: challengeId,
  descriptor,
})

type FinishContext = Context<never, typeof settledEvents>

/**
 * Records how a charge has ended: the money is in the wallet and the request is paid, or nothing has happened. Nothing
 * changes where that is recorded already; where it is not known, the acquirer is asked again later.
 */
export async function finishSettlement(
  { id, requestId, walletId }: Paying,
  outcome: ChargeOutcome,
  context: FinishContext,
): Promise<Settlement> {
  if (requestId !== null && walletId !== null)
    return finishOfRequest({ id, requestId, walletId }, outcome, context)
  const settlement = await context.records.lock(Settlement, id)
  if (!settlement) throw new Error(`${id}: the settlement is gone`)
  if (settlement.status === 'charging') await end(settlement, outcome, context)
  return settlement
}

/** A settlement, and what it pays. */
type Paying = Pick<Settlement, 'id' | 'requestId' | 'walletId'>

interface PayingRequest extends Paying {
  readonly requestId: string
  readonly walletId: string
}

/** Locks in the order of all: the accounts, the request, the settlement. */
async function finishOfRequest(
  { id, requestId, walletId }: PayingRequest,
  outcome: ChargeOutcome,
  context: FinishContext,
): Promise<Settlement> {
  const { records, sql, tenant, sendAlong } = context
  const [book, wallets, locked, settlement] = await Promise.all([
    openBook(sql, context, accountsToCollect(walletId)),
    walletsById(sql, tenant, [walletId]),
    lockRequest(requestId, context),
    records.lock(Settlement, id),
  ])
  const wallet = wallets.get(walletId)
  if (!settlement || !locked || !wallet) throw new Error(`${id}: the request or its wallet is gone`)
  if (settlement.status !== 'charging') return settlement
  if (outcome.outcome === 'approved') {
    takeCharge(settlement, { wallet, locked, book }, context)
    sendAlong(book.post(sql))
  } else if (outcome.outcome === 'declined') failPayment(locked, id, context)
  sendAlong(writeRequests(sql, tenant, [locked]))
  await end(settlement, outcome, context)
  return settlement
}

interface Paid {
  readonly wallet: WalletRow
  readonly locked: LockedRequest
  readonly book: Book
}

/** Takes what was charged into the wallet, and counts it for the request. The caller writes book and request. */
export function takeCharge(
  settlement: Settlement,
  { wallet, locked, book }: Paid,
  context: Pick<FinishContext, 'records' | 'tenant' | 'now' | 'emit' | 'wake'>,
): void {
  const { id, amountEuros } = settlement
  const charge = { amountEuros, cause: { type: 'settlement', id }, reference: locked.request.reference }
  collectCharge(wallet, charge, book, context)
  const { handle, reference, descriptor } = chargeOf(settlement)
  const paid = { way: 'card', amountEuros, sourceId: id, walletId: wallet.id } as const
  addPayment(locked, { ...paid, charge: { handle, reference, descriptor } }, context)
}

export function endPaid(settlement: Settlement, receipt: string, now: Date): void {
  settlementMachine.move(settlement, 'paid')
  Object.assign(settlement, { settledAt: now, dueAt: null, receipt })
}

/** How the settlement itself ends; a charge whose outcome is open stays as it is. */
async function end(settlement: Settlement, outcome: ChargeOutcome, context: FinishContext): Promise<void> {
  if (outcome.outcome === 'approved')
    endPaid(settlement, await receiptFor(settlement, context.ports), context.now)
  else if (outcome.outcome === 'declined') {
    settlementMachine.move(settlement, 'declined')
    const { code: declineCode, reason: declineReason } = outcome
    Object.assign(settlement, { declineCode, declineReason, dueAt: null })
  } else askAgainLater(settlement, context.now)
}

/** The type of the statement by which a receipt is proved. */
const RECEIPT_TYPE = 'mpp-receipt+jwt'

/** A receipt that is signed, which anybody can check offline. Its time is the real one: payers compare it with their own. */
export async function receiptFor(
  { id, requestId, scenario, challengeId, amountEuros, network, ownerId, mode }: Settlement,
  { signer }: Pick<Ports, 'signer'>,
): Promise<string> {
  const timestamp = clock.real().toISOString()
  const externalId = externalIdOf({ requestId, scenario })
  const members = {
    status: 'success',
    method: 'card',
    timestamp,
    reference: id,
    challengeId,
    externalId,
  } as const
  const paid = { amount: String(amountEuros), currency: 'eur', network }
  const proof = await signer.sign(RECEIPT_TYPE, { ownerId, mode, ...members, ...paid })
  return writeReceipt({ ...members, proof })
}

/** Asks how a charge stands, and records it. A charge that is known by now is left as it is. */
export const askAcquirer = externalCall(settlementsApi.askAcquirer, {
  async reserve({ params }, { records, now, refuse }) {
    const settlement = await records.findOne(Settlement, { id: params.id })
    if (!settlement) return refuse('settlement_not_found')
    if (settlement.status !== 'charging') return new AnswerNow({ done: true })
    const { id, requestId, walletId, mode } = settlement
    return { paying: { id, requestId, walletId }, mode, charge: chargeOf(settlement), now }
  },

  call: ({ mode, charge, now }, { ports, requestId }) =>
    ports.acquirer(mode).stateOf(charge, { requestId, now }),

  /** One that is still open is due again later, so nothing is left to do now. */
  async record(outcome, { paying }, context) {
    await finishSettlement(paying, outcome, context)
    return { done: true }
  },

  recover: async () => ({ done: true }),
})
