import {
  type BatchedStep,
  CallExternal,
  type CallResult,
  type Item,
  Unbatched,
} from '../../../kernel/contract/handlers.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import type { WithHeaders } from '../../../kernel/contract/problem.ts'
import type { Records } from '../../../kernel/contract/records.ts'
import { tenantRecords } from '../../../kernel/database/record-store.ts'
import { accountsToCollect } from '../../../money/incoming/index.ts'
import { type Book, openBook } from '../../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../../money/wallets/index.ts'
import type { ChargeOutcome } from '../../../ports/acquirer.ts'
import { type LockedRequest, lockRequests, writeRequests } from '../payments.ts'
import type { RequestRow } from '../request-rows.ts'
import { paidAnswer } from './answers.ts'
import { blockerOf, newSettlement } from './begin-settlement.ts'
import { beginningOf, type Charging, chargingOf } from './endpoint.ts'
import type { PaidFailure } from './endpoint-contract.ts'
import { endPaid, receiptFor, takeCharge } from './finish-settlement.ts'
import type { Reading } from './read-credential.ts'
import type { settledEvents } from './settled-events.ts'
import { Settlement } from './settlement.ts'
import type { NotTaken, TakenToken } from './take-token.ts'

type Taken = CallResult<Reading, TakenToken>
type Charged = CallResult<Charging, ChargeOutcome>

type Step<I, R, S> = BatchedStep<I, R, PaidFailure, typeof settledEvents, S>

/** The requests that are paid in a batch, locked. */
interface Beginnings {
  readonly records: Records
  readonly requests: ReadonlyMap<string, LockedRequest>
  readonly known: ReadonlySet<string>
  readonly begun: Set<LockedRequest>
}

const requestIdOf = ({ reservation: { article } }: CallResult<Reading | Charging, unknown>): string =>
  article.subject.requestId ?? ''

/** Stores the charges of many requests, each before anything is sent. What is not simply begun is looked at alone. */
const beginTogether: Step<Taken, CallExternal<Charging>, Beginnings> = {
  name: 'begin',
  tenantOf: ({ reservation: { article } }) => article.tenant,

  async load(items, sql) {
    const { tenant, now } = items[0] as Item<Taken>
    const records = tenantRecords(sql, { tenant, now })
    const challengeIds = items.map(({ input }) => input.reservation.sealed.challengeId)
    // Sent right behind the lock, so it reads what whoever had the lock before has left.
    const [requests, known] = await Promise.all([
      lockRequests(
        sql,
        tenant,
        items.map(({ input }) => requestIdOf(input)),
      ),
      records.find(Settlement, { challengeId: { $in: challengeIds } }),
    ])
    return { records, requests, known: new Set(known.map(one => one.challengeId)), begun: new Set() }
  },

  decide({ input, tenant, now }, { records, requests, known, begun }, { refuse, emit, wake }) {
    const { reservation: reading, answer: taken } = input
    const locked = requests.get(requestIdOf(input))
    if (!locked || known.has(reading.sealed.challengeId)) return new Unbatched()
    const beginning = beginningOf(reading, taken)
    const blocker = blockerOf(locked, beginning, now)
    if (blocker === 'payment_under_way') return refuse(blocker)
    if (blocker) return new Unbatched()
    begun.add(locked)
    const settlement = newSettlement(beginning, locked, { records, tenant, now, emit, wake })
    return new CallExternal(chargingOf(reading, settlement, taken.token))
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
  const settlements = items.map(({ input }) => input.reservation.settlement)
  const receipts = await Promise.all(settlements.map(settlement => receiptFor(settlement, ports)))
  return new Map(settlements.map(({ id }, n) => [id, String(receipts[n])]))
}

/** Records charges that the acquirer has approved: the money is in the wallets, and the requests are paid. */
const finishTogether = <R>(
  unlocks: (request: RequestRow, settlement: Settlement) => R,
): Step<Charged, WithHeaders<R>, Endings> => ({
  name: 'finish',
  tenantOf: ({ reservation: { article } }) => article.tenant,

  async load(items, sql, ports) {
    const { tenant, now } = items[0] as Item<Charged>
    const receipts = await receiptsFor(items, ports)
    const records = tenantRecords(sql, { tenant, now })
    const walletIds = items.map(({ input }) => String(input.reservation.settlement.walletId))
    const [book, wallets, requests, settlements] = await Promise.all([
      openBook(sql, { tenant, now }, accountsToCollect(...walletIds)),
      walletsById(sql, tenant, walletIds),
      lockRequests(
        sql,
        tenant,
        items.map(({ input }) => requestIdOf(input)),
      ),
      records.find(Settlement, { id: { $in: [...receipts.keys()] } }, { orderBy: { id: 'asc' }, lock: true }),
    ])
    const byId = new Map(settlements.map(settlement => [settlement.id, settlement]))
    return { records, requests, settlements: byId, wallets, book, receipts, paid: new Set() }
  },

  decide({ input, tenant, now }, state, { emit, wake }) {
    const { id, walletId } = input.reservation.settlement
    const settlement = state.settlements.get(id)
    const locked = state.requests.get(requestIdOf(input))
    const wallet = state.wallets.get(String(walletId))
    if (!settlement || !locked || !wallet) throw new Error(`${id}: the request or its wallet is gone`)
    if (settlement.status !== 'charging') return new Unbatched()
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

/** The steps that many payers of an owner's requests take together. A refusal is told to each alone. */
export function settleTogether<R>(unlocks: (request: RequestRow, settlement: Settlement) => R) {
  const finish = finishTogether(unlocks)
  return (answer: TakenToken | NotTaken | ChargeOutcome, reservation: Reading | Charging) => {
    if (reservation.step === 'read') return 'message' in answer ? undefined : beginTogether
    return 'outcome' in answer && answer.outcome === 'approved' ? finish : undefined
  }
}
