import { SpendLocks } from '../../../control/intents/index.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Context, EmitContext, ReadContext } from '../../../kernel/contract/context.ts'
import type { EntityManager } from '../../../kernel/contract/entity-manager.ts'
import { AnswerNow, type ExternalCallContext } from '../../../kernel/contract/handlers.ts'
import { DONE, externalCall } from '../../../kernel/contract/operation.ts'
import type { Systems } from '../../../kernel/contract/ports.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { FOR_UPDATE_BY_ID } from '../../../kernel/database/entity.ts'
import { tenantEntityManager } from '../../../kernel/database/orm.ts'
import { lockTenant } from '../../../kernel/database/tenant-lock.ts'
import { acquirerCreditAccounts, creditAcquirerCharge } from '../../../money/incoming/index.ts'
import type { LockedBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { serializeReceipt } from '../../../mpp/index.ts'
import type { AcquirerCharge, ChargeOutcome, ChargeReturns } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import {
  addRequestPayment,
  amountDueCents,
  beginRequestPayment,
  failRequestPayment,
  isRequestPayable,
  type LockedPaymentRequest,
  lockPaymentRequests,
  writePaymentRequests,
} from '../../payment-requests/index.ts'
import { collectProcess } from '../../payment-requests/process.ts'
import { recordChargeReturns } from '../../refunds/index.ts'
import { type cardSettlementEvents, settlementsApi } from './api.ts'
import type { PaidArticle } from './offer.ts'
import {
  firstInquiryAt,
  Settlement,
  scheduleNextInquiry,
  settlementExternalId,
  settlementMachine,
} from './settlement.ts'

export interface NewCharge
  extends Pick<
    Settlement,
    'challengeId' | 'credentialDigest' | 'network' | 'last4' | 'handle' | 'descriptor'
  > {
  readonly subject: PaidArticle['subject']
  readonly amountCents: Settlement['amountCents']
}

type SettleContext = EmitContext<typeof cardSettlementEvents>

export const findSettlement = (challengeId: string, { em }: ReadContext): Promise<Settlement | null> =>
  em.findOne(Settlement, { challengeId })

export interface NewCharges {
  readonly em: EntityManager
  readonly requests: ReadonlyMap<string, LockedPaymentRequest>
  readonly known: Set<string>
  readonly begun: Set<LockedPaymentRequest>
}

/** Concurrent payers of the same request wait for each other here. */
export async function loadNewCharges(
  beginnings: readonly Pick<NewCharge, 'challengeId' | 'subject'>[],
  sql: Sql,
  { tenant, now }: TenantNow,
): Promise<NewCharges> {
  const em = tenantEntityManager(sql, { tenant, now })
  const requestIds = beginnings.flatMap(({ subject }) => subject.requestId ?? [])
  const challengeIds = beginnings.map(({ challengeId }) => challengeId)
  const ofNoRequest = beginnings.filter(({ subject }) => subject.requestId === null)
  const locks = ofNoRequest.map(({ challengeId }) => `settlement ${challengeId}`).toSorted()
  // This is sent right after the locks, so it reads what earlier holders of the locks have committed.
  const locking = locks.map(lock => lockTenant({ sql, tenant }, lock))
  const [requests, known] = await Promise.all([
    lockPaymentRequests(sql, tenant, requestIds),
    em.find(Settlement, { challengeId: { $in: challengeIds } }),
    ...locking,
  ])
  return { em, requests, known: new Set(known.map(one => one.challengeId)), begun: new Set() }
}

/**
 * Stores a charge before anything is sent, so that it is made once: a second credential for its challenge
 * finds it. The caller commits, and then charges under the challenge's id. Otherwise the result says why no
 * charge begins: another charge is pending, the challenge is used, or the article has changed or ended.
 */
export function startCharge(
  { subject, ...members }: NewCharge,
  { em, requests, known, begun }: NewCharges,
  context: SettleContext,
): Settlement | 'payment_under_way' | 'not_payable' {
  const { amountCents, challengeId } = members
  const { requestId, walletId } = subject
  const locked = requests.get(requestId ?? '')
  if (known.has(challengeId) || (requestId !== null && !locked)) return 'not_payable'
  if (locked?.pendingPayment) return 'payment_under_way'
  if (locked && !isDue(locked, amountCents, context.now)) return 'not_payable'
  const id = newId('settlement')
  const dueAt = firstInquiryAt(context.now)
  const settlement = em.create(Settlement, { id, ...subject, ...members, dueAt })
  if (!locked) {
    known.add(challengeId)
    return settlement
  }
  const at = walletId === null ? {} : { walletId }
  beginRequestPayment(locked, { way: 'card', amountCents, sourceId: id, ...at }, context)
  begun.add(locked)
  return settlement
}

const isDue = (
  { request }: LockedPaymentRequest,
  amountCents: Settlement['amountCents'],
  now: Date,
): boolean => isRequestPayable(request, now) && amountDueCents(request) === amountCents

export async function writeNewCharges({ em, begun }: NewCharges, sql: Sql): Promise<void> {
  const [first] = begun
  await Promise.all([first && writePaymentRequests(sql, first.request, [...begun]), em.flush()])
}

export const acquirerChargeFor = (settlement: Settlement): AcquirerCharge => {
  const { handle, amountCents, challengeId: reference, descriptor, ownerId, mode } = settlement
  return { handle, amountCents, reference, descriptor, ownerId, mode }
}

export interface ChargeResult {
  readonly settlement: Settlement
  readonly outcome: ChargeOutcome
}

export interface LockedCharges {
  readonly em: EntityManager
  readonly settlements: ReadonlyMap<string, Settlement>
  readonly requests: ReadonlyMap<string, LockedPaymentRequest>
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly book: LockedBook
  readonly receipts: ReadonlyMap<string, string>
  readonly changed: Set<LockedPaymentRequest>
}

/** Locks in the global order: accounts, requests, settlements. Receipts are signed before that. */
export async function lockCharges(
  charges: readonly ChargeResult[],
  sql: Sql,
  { tenant, now }: TenantNow,
  systems: Systems,
): Promise<LockedCharges> {
  const approved = charges.filter(({ outcome }) => outcome.outcome === 'approved')
  const signed = approved.map(async ({ settlement }) => {
    return [settlement.id, await receiptFor(settlement, systems)] as const
  })
  const receipts = new Map(await Promise.all(signed))
  const em = tenantEntityManager(sql, { tenant, now })
  const ids = charges.map(({ settlement }) => settlement.id)
  const walletIds = charges.flatMap(({ settlement }) => settlement.walletId ?? [])
  const requestIds = charges.flatMap(({ settlement }) => settlement.requestId ?? [])
  const [{ book }, wallets, requests, settlements] = await Promise.all([
    // The sandbox's merchants have no ledger.
    new SpendLocks(sql, { tenant, now }).take(
      walletIds.length > 0 ? acquirerCreditAccounts(...walletIds) : {},
    ),
    walletsById(sql, tenant, walletIds),
    lockPaymentRequests(sql, tenant, requestIds),
    em.find(Settlement, { id: { $in: ids } }, FOR_UPDATE_BY_ID),
  ])
  const byId = new Map(settlements.map(settlement => [settlement.id, settlement]))
  return { em, settlements: byId, requests, wallets, book, receipts, changed: new Set() }
}

/**
 * Records the outcome of a charge: either the wallet is credited and the request paid, or nothing happened.
 * An unknown outcome stays open, and the acquirer is asked again later. Does nothing if an outcome is already
 * recorded.
 */
export function recordChargeOutcome(
  { settlement: { id }, outcome }: ChargeResult,
  endings: LockedCharges,
  context: SettleContext,
): Settlement {
  const settlement = endings.settlements.get(id)
  if (!settlement) throw new Error(`${id}: the settlement is gone`)
  if (settlement.status !== 'charging') return settlement
  const { now } = context
  const locked = requestOfSettlement(settlement, endings)
  if (outcome.outcome === 'approved') {
    if (locked) creditCharge(settlement, locked, endings, context)
    settlementMachine.move(settlement, 'paid')
    const receipt = endings.receipts.get(id) ?? null
    Object.assign(settlement, { settledAt: now, dueAt: null, receipt })
  } else if (outcome.outcome === 'declined') {
    if (locked) failRequestPayment(locked, id, context)
    settlementMachine.move(settlement, 'declined')
    const { code: declineCode, reason: declineReason } = outcome
    Object.assign(settlement, { declineCode, declineReason, dueAt: null })
  } else {
    scheduleNextInquiry(settlement, now)
    // Its run shows since when the outcome is unknown.
    if (locked && settlement.attempts === 1) context.wake(collectProcess, locked.request)
  }
  if (locked) endings.changed.add(locked)
  return settlement
}

export function requestOfSettlement(
  { id, requestId }: Pick<Settlement, 'id' | 'requestId'>,
  { requests }: LockedCharges,
): LockedPaymentRequest | undefined {
  if (requestId === null) return undefined
  const locked = requests.get(requestId)
  if (!locked) throw new Error(`${id}: the request is gone`)
  return locked
}

function creditCharge(
  settlement: Settlement,
  locked: LockedPaymentRequest,
  { em, wallets, book }: LockedCharges,
  context: SettleContext,
): void {
  const { id, amountCents, walletId } = settlement
  const wallet = wallets.get(walletId ?? '')
  if (!wallet) throw new Error(`${id}: the wallet is gone`)
  const charge = { amountCents, cause: { type: 'settlement', id }, reference: locked.request.reference }
  creditAcquirerCharge(wallet, charge, book, { ...context, em })
  const { handle, reference, descriptor } = acquirerChargeFor(settlement)
  const paid = { way: 'card', amountCents, sourceId: id, walletId: wallet.id } as const
  addRequestPayment(locked, { ...paid, charge: { handle, reference, descriptor } }, context)
}

export async function writeLockedCharges({ em, book, changed }: LockedCharges, sql: Sql): Promise<void> {
  const [first] = changed
  const requests = first && writePaymentRequests(sql, first.request, [...changed])
  await Promise.all([book.post(sql), requests, em.flush()])
}

const RECEIPT_TYPE = 'mpp-receipt+jwt'

/**
 * Signs a receipt that anyone can verify offline. It contains the real time, since payers compare it with
 * their own clocks.
 */
async function receiptFor(
  { id, requestId, scenario, challengeId, amountCents, network, ownerId, mode }: Settlement,
  { signer }: Pick<Systems, 'signer'>,
): Promise<string> {
  const timestamp = clock.real().toISOString()
  const externalId = settlementExternalId({ requestId, scenario })
  const members = {
    status: 'success',
    method: network === 'stripe' ? network : 'card',
    timestamp,
    reference: id,
    challengeId,
    externalId,
  } as const
  const paid = { amount: String(amountCents), currency: 'eur', network }
  const proof = signer.sign(RECEIPT_TYPE, { ownerId, mode, ...members, ...paid })
  return serializeReceipt({ ...members, proof })
}

interface Inquiry {
  readonly settlement: Settlement
  readonly now: Date
}

const askForOutcome = (
  { settlement, now }: Inquiry,
  { systems, requestId }: ExternalCallContext,
): Promise<ChargeOutcome> =>
  systems.acquirer(settlement.mode).stateOf(acquirerChargeFor(settlement), { requestId, now })

async function recordInquiry(
  ended: ChargeResult,
  context: Context<never, typeof cardSettlementEvents>,
): Promise<void> {
  const endings = await lockCharges([ended], context.sql, context, context.systems)
  recordChargeOutcome(ended, endings, context)
  await writeLockedCharges(endings, context.sql)
}

/** Asks the acquirer for the outcome of a charge, and records it. Skips a charge whose outcome is known. */
export const inquireCharge = externalCall(settlementsApi.askAcquirer, {
  async reserve({ params }, { em, now, refuse }) {
    const settlement = await em.findOne(Settlement, { id: params.id })
    if (!settlement) return refuse('settlement_not_found')
    return settlement.status === 'charging' ? { settlement, now } : new AnswerNow(DONE)
  },

  call: askForOutcome,

  /** An unknown outcome is due again later, so there is nothing more to do now. */
  async record(outcome, { settlement }, context) {
    await recordInquiry({ settlement, outcome }, context)
    return DONE
  },

  recover: async () => DONE,
})

/** The acquirer has news of a charge: it is asked for them. What is known already changes nothing. */
export const heedAcquirerNotice = externalCall(settlementsApi.notice, {
  async reserve({ body: { about, reference } }, context) {
    const settlement = await findSettlement(reference, context)
    if (!settlement) return new AnswerNow(DONE)
    const isOpen = settlement.status === 'charging'
    if (about === 'charge') return isOpen ? { settlement, about, now: context.now } : new AnswerNow(DONE)
    if (isOpen) return context.refuse('outcome_open')
    const hasMoney = settlement.status === 'paid' && settlement.requestId !== null
    return hasMoney ? { settlement, about, now: context.now } : new AnswerNow(DONE)
  },

  async call(inquiry, outside): Promise<ChargeOutcome | ChargeReturns> {
    if (inquiry.about === 'charge') return askForOutcome(inquiry, outside)
    const { settlement, now } = inquiry
    const call = { requestId: outside.requestId, now }
    return outside.systems.acquirer(settlement.mode).returnsOf(acquirerChargeFor(settlement), call)
  },

  async record(answer, { settlement }, context) {
    if ('refunds' in answer) await recordChargeReturns(settlement.id, answer, context)
    else if (settlement.status === 'charging') await recordInquiry({ settlement, outcome: answer }, context)
    else return context.refuse('outcome_open')
    return DONE
  },

  // The acquirer sends the notice again.
  recover: async (_, { refuse }) => refuse('outcome_open'),
})
