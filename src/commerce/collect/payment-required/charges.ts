import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { AnswerNow } from '../../../kernel/contract/handlers.ts'
import { externalCall } from '../../../kernel/contract/operation.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { lockTenant } from '../../../kernel/database/tenant-lock.ts'
import { accountsToCollect, collectCharge } from '../../../money/incoming/index.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { writeReceipt } from '../../../mpp/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { clock } from '../../../values/clock.ts'
import { newId } from '../../../values/ids.ts'
import {
  addPayment,
  beginPayment,
  failPayment,
  type LockedRequest,
  lockRequests,
  writeRequests,
} from '../payments.ts'
import { dueCents, isPayable } from '../request.ts'
import { type settledEvents, settlementsApi } from './api.ts'
import type { Article } from './offer.ts'
import { externalIdOf, firstDueAt, Settlement, scheduleInquiry, settlementMachine } from './settlement.ts'

export interface NewCharge
  extends Pick<
    Settlement,
    'challengeId' | 'credentialDigest' | 'network' | 'last4' | 'handle' | 'descriptor'
  > {
  readonly subject: Article['subject']
  readonly amountCents: Settlement['amountCents']
}

type SettleContext = TenantNow & Pick<Context<never, typeof settledEvents>, 'emit' | 'wake'>

export const settlementOf = (
  challengeId: string,
  { records }: Pick<Context, 'records'>,
): Promise<Settlement | null> => records.findOne(Settlement, { challengeId })

export interface NewCharges {
  readonly records: Records
  readonly requests: ReadonlyMap<string, LockedRequest>
  readonly known: Set<string>
  readonly begun: Set<LockedRequest>
}

/** Concurrent payers of the same request wait for each other here. */
export async function openNewCharges(
  beginnings: readonly Pick<NewCharge, 'challengeId' | 'subject'>[],
  sql: Sql,
  { tenant, now }: TenantNow,
): Promise<NewCharges> {
  const records = tenantRecords(sql, { tenant, now })
  const requestIds = beginnings.flatMap(({ subject }) => subject.requestId ?? [])
  const challengeIds = beginnings.map(({ challengeId }) => challengeId)
  const ofNoRequest = beginnings.filter(({ subject }) => subject.requestId === null)
  const locks = ofNoRequest.map(({ challengeId }) => `settlement ${challengeId}`).toSorted()
  // This is sent right after the locks, so it reads what earlier holders of the locks have committed.
  const locking = locks.map(lock => lockTenant({ sql, tenant }, lock))
  const [requests, known] = await Promise.all([
    lockRequests(sql, tenant, requestIds),
    records.find(Settlement, { challengeId: { $in: challengeIds } }),
    ...locking,
  ])
  return { records, requests, known: new Set(known.map(one => one.challengeId)), begun: new Set() }
}

/**
 * Stores a charge before anything is sent, so that it is made once: a second credential for its challenge
 * finds it. The caller commits, and then charges under the challenge's id. Otherwise the result says why no
 * charge begins: another charge is pending, the challenge is used, or the article has changed or ended.
 */
export function startCharge(
  { subject, ...members }: NewCharge,
  { records, requests, known, begun }: NewCharges,
  context: SettleContext,
): Settlement | 'payment_under_way' | 'not_payable' {
  const { amountCents, challengeId } = members
  const { requestId, walletId } = subject
  const locked = requests.get(requestId ?? '')
  if (known.has(challengeId) || (requestId !== null && !locked)) return 'not_payable'
  if (locked?.pendingPayment) return 'payment_under_way'
  if (locked && !isDue(locked, amountCents, context.now)) return 'not_payable'
  const id = newId('settlement')
  const dueAt = firstDueAt(context.now)
  const settlement = records.create(Settlement, { id, ...subject, ...members, dueAt })
  if (!locked) {
    known.add(challengeId)
    return settlement
  }
  const at = walletId === null ? {} : { walletId }
  beginPayment(locked, { way: 'card', amountCents, sourceId: id, ...at }, context)
  begun.add(locked)
  return settlement
}

const isDue = ({ request }: LockedRequest, amountCents: Settlement['amountCents'], now: Date): boolean =>
  isPayable(request, now) && dueCents(request) === amountCents

export async function writeNewCharges({ records, begun }: NewCharges, sql: Sql): Promise<void> {
  const [first] = begun
  await Promise.all([first && writeRequests(sql, first.request, [...begun]), records.flush()])
}

export const chargeOf = ({ handle, amountCents, challengeId, descriptor }: Settlement) => ({
  handle,
  amountCents,
  reference: challengeId,
  descriptor,
})

export interface ChargeResult {
  readonly settlement: Settlement
  readonly outcome: ChargeOutcome
}

export interface OpenCharges {
  readonly records: Records
  readonly settlements: ReadonlyMap<string, Settlement>
  readonly requests: ReadonlyMap<string, LockedRequest>
  readonly wallets: ReadonlyMap<string, WalletRow>
  /** Undefined if no request is paid, since the sandbox's merchants have no ledger. */
  readonly book: Book | undefined
  readonly receipts: ReadonlyMap<string, string>
  readonly changed: Set<LockedRequest>
}

/** Locks in the global order: accounts, requests, settlements. Receipts are signed before that. */
export async function lockCharges(
  charges: readonly ChargeResult[],
  sql: Sql,
  { tenant, now }: TenantNow,
  ports: Ports,
): Promise<OpenCharges> {
  const approved = charges.filter(({ outcome }) => outcome.outcome === 'approved')
  const signed = approved.map(async ({ settlement }) => {
    return [settlement.id, await receiptFor(settlement, ports)] as const
  })
  const receipts = new Map(await Promise.all(signed))
  const records = tenantRecords(sql, { tenant, now })
  const ids = charges.map(({ settlement }) => settlement.id)
  const walletIds = charges.flatMap(({ settlement }) => settlement.walletId ?? [])
  const requestIds = charges.flatMap(({ settlement }) => settlement.requestId ?? [])
  const [book, wallets, requests, settlements] = await Promise.all([
    walletIds.length > 0 ? openBook(sql, { tenant, now }, accountsToCollect(...walletIds)) : undefined,
    walletsById(sql, tenant, walletIds),
    lockRequests(sql, tenant, requestIds),
    records.find(Settlement, { id: { $in: ids } }, { orderBy: { id: 'asc' }, lock: true }),
  ])
  const byId = new Map(settlements.map(settlement => [settlement.id, settlement]))
  return { records, settlements: byId, requests, wallets, book, receipts, changed: new Set() }
}

/**
 * Records the outcome of a charge: either the wallet is credited and the request paid, or nothing happened.
 * An unknown outcome stays open, and the acquirer is asked again later. Does nothing if an outcome is already
 * recorded.
 */
export function endCharge(
  { settlement: { id }, outcome }: ChargeResult,
  endings: OpenCharges,
  context: SettleContext,
): Settlement {
  const settlement = endings.settlements.get(id)
  if (!settlement) throw new Error(`${id}: the settlement is gone`)
  if (settlement.status !== 'charging') return settlement
  const { now } = context
  const locked = requestPaidBy(settlement, endings)
  if (outcome.outcome === 'approved') {
    if (locked) creditCharge(settlement, locked, endings, context)
    settlementMachine.move(settlement, 'paid')
    const receipt = endings.receipts.get(id) ?? null
    Object.assign(settlement, { settledAt: now, dueAt: null, receipt })
  } else if (outcome.outcome === 'declined') {
    if (locked) failPayment(locked, id, context)
    settlementMachine.move(settlement, 'declined')
    const { code: declineCode, reason: declineReason } = outcome
    Object.assign(settlement, { declineCode, declineReason, dueAt: null })
  } else scheduleInquiry(settlement, now)
  if (locked) endings.changed.add(locked)
  return settlement
}

export function requestPaidBy(
  { id, requestId }: Pick<Settlement, 'id' | 'requestId'>,
  { requests }: OpenCharges,
): LockedRequest | undefined {
  if (requestId === null) return undefined
  const locked = requests.get(requestId)
  if (!locked) throw new Error(`${id}: the request is gone`)
  return locked
}

function creditCharge(
  settlement: Settlement,
  locked: LockedRequest,
  { records, wallets, book }: OpenCharges,
  context: SettleContext,
): void {
  const { id, amountCents, walletId } = settlement
  const wallet = wallets.get(walletId ?? '')
  if (!wallet || !book) throw new Error(`${id}: the wallet is gone`)
  const charge = { amountCents, cause: { type: 'settlement', id }, reference: locked.request.reference }
  collectCharge(wallet, charge, book, { ...context, records })
  const { handle, reference, descriptor } = chargeOf(settlement)
  const paid = { way: 'card', amountCents, sourceId: id, walletId: wallet.id } as const
  addPayment(locked, { ...paid, charge: { handle, reference, descriptor } }, context)
}

export async function writeCharges({ records, book, changed }: OpenCharges, sql: Sql): Promise<void> {
  const [first] = changed
  const requests = first && writeRequests(sql, first.request, [...changed])
  await Promise.all([book?.post(sql), requests, records.flush()])
}

const RECEIPT_TYPE = 'mpp-receipt+jwt'

/**
 * Signs a receipt that anyone can verify offline. It contains the real time, since payers compare it with
 * their own clocks.
 */
async function receiptFor(
  { id, requestId, scenario, challengeId, amountCents, network, ownerId, mode }: Settlement,
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
  const paid = { amount: String(amountCents), currency: 'eur', network }
  const proof = await signer.sign(RECEIPT_TYPE, { ownerId, mode, ...members, ...paid })
  return writeReceipt({ ...members, proof })
}

const DONE = { done: true }

/** Asks the acquirer for the outcome of a charge, and records it. Skips a charge whose outcome is known. */
export const askAcquirer = externalCall(settlementsApi.askAcquirer, {
  async reserve({ params }, { records, now, refuse }) {
    const settlement = await records.findOne(Settlement, { id: params.id })
    if (!settlement) return refuse('settlement_not_found')
    return settlement.status === 'charging' ? { settlement, now } : new AnswerNow(DONE)
  },

  call: ({ settlement, now }, { ports, requestId }) =>
    ports.acquirer(settlement.mode).stateOf(chargeOf(settlement), { requestId, now }),

  /** An unknown outcome is due again later, so there is nothing more to do now. */
  async record(outcome, { settlement }, context) {
    const ended = { settlement, outcome }
    const endings = await lockCharges([ended], context.sql, context, context.ports)
    endCharge(ended, endings, context)
    await writeCharges(endings, context.sql)
    return DONE
  },

  recover: async () => DONE,
})
