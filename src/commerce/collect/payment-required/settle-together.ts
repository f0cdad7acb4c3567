import {
  type BatchedStep,
  CallExternal,
  type Item,
  type TakenStep,
  takeStep,
} from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { WithHeaders } from '../../../kernel/contract/problem.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { accountsToCollect } from '../../../money/incoming/index.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import { type LockedRequest, lockRequests, writeRequests } from '../payments.ts'
import type { RequestRow } from '../request-rows.ts'
import { paidAnswer } from './answers.ts'
import {
  beginningOf,
  type Called,
  type Charged,
  type Charging,
  chargingOf,
  type Reserved,
  type Taken,
  type Unshared,
} from './endpoint.ts'
import type { PaidFailure } from './endpoint-contract.ts'
import type { Reading, TakenToken } from './read-credential.ts'
import { blockerOf, endPaid, newSettlement, receiptFor, takeCharge } from './settle.ts'
import type { settledEvents } from './settled-events.ts'
import { Settlement } from './settlement.ts'

/** A token that can be charged, and the challenge that it pays. */
interface Chargeable extends Taken {
  readonly token: TakenToken
}

type Step<I, R, S> = BatchedStep<I, R, PaidFailure, typeof settledEvents, S>

/** The requests that are paid in a batch, locked. */
interface Beginnings {
  readonly records: Records
  readonly requests: ReadonlyMap<string, LockedRequest>
  readonly known: ReadonlySet<string>
  readonly begun: Set<LockedRequest>
}

const requestIdOf = ({ article }: Pick<Reading, 'article'>): string => article.subject.requestId ?? ''

const unshared = (called: Called, { params }: Pick<Reading, 'params'>) =>
  new CallExternal<Unshared>({ step: 'unshared', params, called })

/** Stores the charges of many requests, each before anything is sent. What is not simply begun is recorded by itself. */
const beginTogether: Step<Chargeable, CallExternal<Charging | Unshared>, Beginnings> = {
  name: 'begin',

  async load(items, sql) {
    const { tenant, now } = items[0]
    const records = tenantRecords(sql, { tenant, now })
    const challengeIds = items.map(({ input }) => input.reading.sealed.challengeId)
    // Sent right behind the lock, so it reads what whoever had the lock before has left.
    const [requests, known] = await Promise.all([
      lockRequests(
        sql,
        tenant,
        items.map(({ input }) => requestIdOf(input.reading)),
      ),
      records.find(Settlement, { challengeId: { $in: challengeIds } }),
    ])
    return { records, requests, known: new Set(known.map(one => one.challengeId)), begun: new Set() }
  },

  decide({ input, tenant, now }, { records, requests, known, begun }, { refuse, emit, wake }) {
    const { reading, token } = input
    const locked = requests.get(requestIdOf(reading))
    if (!locked || known.has(reading.sealed.challengeId)) return unshared(input, reading)
    const beginning = beginningOf(reading, token)
    const blocker = blockerOf(locked, beginning, now)
    if (blocker === 'payment_under_way') return refuse(blocker)
    if (blocker) return unshared(input, reading)
    begun.add(locked)
    const settlement = newSettlement(beginning, locked, { records, tenant, now, emit, wake })
    return new CallExternal(chargingOf(reading, settlement, token.token))
  },

  async write({ records, begun }, sql) {
    const [first] = begun
    if (first) await Promise.all([writeRequests(sql, first.request, [...begun]), records.flush()])
  },
}

interface Endings {
  readonly records: Records
  readonly requests: ReadonlyMap<string, LockedRequest>
  readonly settlements: ReadonlyMap<string, Settlement>
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly book: Book
  readonly receipts: ReadonlyMap<string, string>
  readonly paid: Set<LockedRequest>
}

/** Signed before anything is locked. */
async function receiptsFor(items: readonly Item<Charged>[], ports: Ports) {
  const settlements = items.map(({ input }) => input.charging.settlement)
  const receipts = await Promise.all(settlements.map(settlement => receiptFor(settlement, ports)))
  return new Map(settlements.map(({ id }, n) => [id, String(receipts[n])]))
}

/** Records charges that the acquirer has approved: the money is in the wallets, and the requests are paid. */
const finishTogether = <R>(
  unlocks: (request: RequestRow, settlement: Settlement) => R,
): Step<Charged, WithHeaders<R> | CallExternal<Unshared>, Endings> => ({
  name: 'finish',

  async load(items, sql, ports) {
    const { tenant, now } = items[0]
    const receipts = await receiptsFor(items, ports)
    const records = tenantRecords(sql, { tenant, now })
    const walletIds = items.map(({ input }) => String(input.charging.settlement.walletId))
    const [book, wallets, requests, settlements] = await Promise.all([
      openBook(sql, { tenant, now }, accountsToCollect(...walletIds)),
      walletsById(sql, tenant, walletIds),
      lockRequests(
        sql,
        tenant,
        items.map(({ input }) => requestIdOf(input.charging)),
      ),
      records.find(Settlement, { id: { $in: [...receipts.keys()] } }, { orderBy: { id: 'asc' }, lock: true }),
    ])
    const byId = new Map(settlements.map(settlement => [settlement.id, settlement]))
    return { records, requests, settlements: byId, wallets, book, receipts, paid: new Set() }
  },

  decide({ input, tenant, now }, state, { emit, wake }) {
    const { charging } = input
    const { id, walletId } = charging.settlement
    const settlement = state.settlements.get(id)
    const locked = state.requests.get(requestIdOf(charging))
    const wallet = state.wallets.get(String(walletId))
    if (!settlement || !locked || !wallet) throw new Error(`${id}: the request or its wallet is gone`)
    if (settlement.status !== 'charging') return unshared(input, charging)
    const { records, book } = state
    takeCharge(settlement, { wallet, locked, book }, { records, tenant, now, emit, wake })
    const receipt = String(state.receipts.get(id))
    endPaid(settlement, receipt, now)
    state.paid.add(locked)
    return paidAnswer(unlocks(locked.request, settlement), receipt)
  },

  async write({ records, book, paid }, sql) {
    const [first] = paid
    if (first)
      await Promise.all([book.post(sql), writeRequests(sql, first.request, [...paid]), records.flush()])
  },
})

const isChargeable = (called: Called): called is Chargeable =>
  called.step === 'taken' && !('message' in called.token)

type SharedStep<R> = TakenStep<
  WithHeaders<R> | CallExternal<Charging | Unshared>,
  PaidFailure,
  typeof settledEvents
>

/** The steps that many payers of an owner's requests take in one batch. Each refusal is recorded by itself. */
export function settleTogether<R>(unlocks: (request: RequestRow, settlement: Settlement) => R) {
  const finish = finishTogether(unlocks)
  return (called: Called, reservation: Reserved): SharedStep<R> | undefined => {
    if (reservation.step === 'unshared') return undefined
    const { tenant } = reservation.article
    if (isChargeable(called)) return takeStep(beginTogether, called, tenant)
    const isPaid = called.step === 'charged' && called.outcome.outcome === 'approved'
    return isPaid ? takeStep(finish, called, tenant) : undefined
  }
}
