import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { insertInto, rowsById, selectColumnList, updateOf } from '../../kernel/database/bulk-sql.ts'
import { addMs, backoffDelay, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import {
  addCents,
  type Cents,
  minOf,
  NO_CENTS,
  negateCents,
  remainderOf,
  subtractCents,
  sumOf,
} from '../../values/money.ts'
import { refundTransaction, type TransactionRow } from '../transactions/index.ts'
import { type RefundArrivedEmitter, type RefundEmitter, refundEvent } from './events.ts'
import {
  emptyRefund,
  Refund,
  type RefundFailure,
  type RefundRow,
  refundMachine,
  refundTable,
} from './refund.ts'

const insertRefunds = insertInto(refundTable)

const updateRefunds = updateOf(refundTable, [
  'updatedAt',
  'transactionId',
  'walletId',
  'status',
  'amountCents',
  'arrivedCents',
  'failure',
  'sourceType',
  'sourceId',
  'attempts',
  'askDueAt',
  'merchantAskedAt',
  'dueAt',
  'completedAt',
])

export const refundsById = rowsById(refundTable)

const outstandingOf = ({ amountCents, arrivedCents }: RefundRow): Cents =>
  subtractCents(amountCents, arrivedCents)

interface RefundSource {
  readonly type: string
  readonly id: string
}

type RefundedPayment = Pick<TransactionRow, 'id' | 'amountCents' | 'refundedCents' | 'disputedCents'>

/** Money that has been returned. It is a fact, even if it exceeds the rest of the payment. */
export interface RefundReceipt extends Pick<RefundRow, 'agentId' | 'walletId' | 'way'> {
  readonly origin: Exclude<RefundRow['origin'], 'asked'>
  readonly amountCents: Cents
  readonly source: RefundSource | null
}

type RefundRequest = Pick<RefundRow, 'id' | 'way' | 'amountCents' | 'reason'> &
  Partial<Omit<RefundRow, 'status' | 'origin' | 'arrivedCents'>>

interface RefundsToOpen {
  readonly ids?: readonly string[]
  readonly transactionIds?: readonly string[]
  /** Records of one type that have had refunds before. */
  readonly sources?: { readonly type: string; readonly ids: readonly string[] } | undefined
}

/**
 * The refunds of payments that the caller has locked. Only this class records refunds of a payment. The rows
 * are written with the postings.
 */
export class RefundBook {
  readonly #tenantNow: TenantNow
  readonly #rows: Map<string, RefundRow>
  readonly #added = new Set<RefundRow>()
  readonly #changed = new Set<RefundRow>()

  constructor({ tenant: { ownerId, mode }, now }: TenantNow, known: readonly RefundRow[]) {
    this.#tenantNow = { tenant: { ownerId, mode }, now }
    this.#rows = new Map(known.map(row => [row.id, row]))
  }

  find(id: string): RefundRow | undefined {
    return this.#rows.get(id)
  }

  /** The part of a payment that is neither refunded, awaited nor disputed; zero if facts exceed the payment. */
  refundableCents({ id, amountCents, refundedCents, disputedCents }: RefundedPayment): Cents {
    const awaited = this.#awaitedOf(id).map(outstandingOf)
    return remainderOf(amountCents, sumOf([refundedCents, disputedCents, ...awaited]))
  }

  awaits(transactionId: string, amountCents: Cents): boolean {
    return this.#awaitedOf(transactionId).some(row => outstandingOf(row) === amountCents)
  }

  request(
    { id: transactionId, agentId }: { readonly id: string | null; readonly agentId: string | null },
    request: RefundRequest,
    emit: RefundEmitter<'refund.requested'>,
  ): RefundRow {
    const row = this.#add({ ...request, transactionId, agentId, origin: 'asked' })
    emit('refund.requested', refundEvent(row))
    return row
  }

  /** The payer’s bank has taken this amount back, without a request. The caller completes it at once. */
  chargeBack(members: Pick<RefundRow, 'way' | 'amountCents'> & Partial<RefundRow>): RefundRow {
    return this.#add({ ...members, origin: 'network' })
  }

  ofSource(source: RefundSource): RefundRow[] {
    return [...this.#rows.values()].filter(
      row => row.sourceType === source.type && row.sourceId === source.id,
    )
  }

  /** Completes a pending refund with its outstanding amount. False if it has already ended. */
  complete(
    row: RefundRow,
    transaction: TransactionRow | undefined,
    walletId: string | null,
    emit: RefundArrivedEmitter,
  ): boolean {
    if (row.status !== 'pending') return false
    const outstanding = outstandingOf(row)
    if (transaction) refundTransaction(transaction, outstanding, this.#tenantNow.now, emit)
    this.#receive(row, outstanding, walletId, emit)
    return true
  }

  /**
   * The processor or the acquirer is asked, and again after this attempt unless it answers before: within a minute, later
   * less often. That is longer than a call takes, so that two calls for one refund never overlap.
   */
  ask(row: RefundRow, longestMs: number): void {
    const askDueAt = addMs(this.#tenantNow.now, backoffDelay(minutes(1), row.attempts, longestMs))
    this.#change(row, { attempts: row.attempts + 1, askDueAt })
  }

  endAsking(row: RefundRow, isAsked: boolean): void {
    this.#change(row, { askDueAt: null, merchantAskedAt: isAsked ? this.#tenantNow.now : null })
  }

  fail(row: RefundRow, failure: RefundFailure, emit: RefundEmitter<'refund.failed'>): boolean {
    if (!refundMachine.move(row, 'failed')) return false
    this.#change(row, { failure, ...NOT_AWAITED })
    emit('refund.failed', refundEvent(row))
    return true
  }

  /** Fails a refund whose money a bank has returned, if it was completed: that restores the payment. */
  reverse(
    row: RefundRow,
    transaction: TransactionRow | undefined,
    failure: RefundFailure,
    emit: RefundEmitter<'refund.failed'> & RefundArrivedEmitter,
  ): boolean {
    const { arrivedCents } = row
    if (!this.fail(row, failure, emit)) return false
    this.#change(row, { arrivedCents: NO_CENTS })
    if (transaction && arrivedCents > 0n)
      refundTransaction(transaction, negateCents(arrivedCents), this.#tenantNow.now, emit)
    return true
  }

  /** A bank has made the transfer of a failed refund all the same. The caller completes the refund, with this amount. */
  reopen(row: RefundRow, amountCents: Cents): boolean {
    if (!refundMachine.move(row, 'pending')) return false
    this.#change(row, { amountCents, failure: null })
    return true
  }

  cancel(row: RefundRow, emit: RefundEmitter<'refund.cancelled'>): boolean {
    if (!refundMachine.move(row, 'cancelled')) return false
    this.#change(row, NOT_AWAITED)
    emit('refund.cancelled', refundEvent(row))
    return true
  }

  /** The part that belongs to the payment completes pending refunds. */
  record(
    transactionId: string | null,
    receipt: RefundReceipt,
    ofPayment: Cents,
    emit: RefundArrivedEmitter,
  ): void {
    let left = ofPayment
    for (const row of transactionId ? this.#matching(transactionId, ofPayment) : []) {
      const part = minOf(outstandingOf(row), left)
      left = subtractCents(left, part)
      if (part === 0n) break
      this.#change(row, sourceOf(receipt.source))
      this.#receive(row, part, receipt.walletId, emit)
    }
    if (left > 0n) this.#addReceived(transactionId, receipt, left, emit)
    const above = subtractCents(receipt.amountCents, ofPayment)
    if (above > 0n) this.#addReceived(null, receipt, above, emit)
  }

  /** Assigns to the payment the part of a record's receipts that is now known to belong to it. */
  link(source: RefundSource, transactionId: string, ofPayment: Cents): void {
    const rows = this.ofSource(source)
    const linked = rows.filter(row => row.transactionId === transactionId)
    let missing: Cents = subtractCents(ofPayment, sumOf(linked.map(({ arrivedCents }) => arrivedCents)))
    for (const row of rows.filter(one => one.transactionId === null)) {
      if (missing <= 0n) break
      missing = subtractCents(missing, this.#assign(row, missing, transactionId))
    }
    for (const row of linked.filter(({ origin }) => origin !== 'asked').toReversed()) {
      if (missing >= 0n) break
      missing = addCents(missing, this.#assign(row, negateCents(missing), null))
    }
  }

  async write(sql: Sql): Promise<void> {
    const { tenant } = this.#tenantNow
    const changed = [...this.#changed].filter(row => !this.#added.has(row))
    await Promise.all([insertRefunds(sql, [...this.#added]), updateRefunds(sql, tenant, changed)])
  }

  #awaitedOf(transactionId: string): RefundRow[] {
    return [...this.#rows.values()].filter(
      row => row.transactionId === transactionId && row.status === 'pending',
    )
  }

  #matching(transactionId: string, amountCents: Cents): RefundRow[] {
    const rank = (row: RefundRow): number => (outstandingOf(row) === amountCents ? 0 : 1)
    return this.#awaitedOf(transactionId).toSorted(
      (one, other) => rank(one) - rank(other) || (one.id < other.id ? -1 : 1),
    )
  }

  #receive(row: RefundRow, amountCents: Cents, walletId: string | null, emit: RefundArrivedEmitter): void {
    const { now } = this.#tenantNow
    this.#change(row, { arrivedCents: addCents(row.arrivedCents, amountCents), walletId })
    if (outstandingOf(row) > 0n || !refundMachine.move(row, 'completed')) return
    this.#change(row, { completedAt: now, ...NOT_AWAITED })
    emit('refund.completed', refundEvent(row))
  }

  #addReceived(
    transactionId: string | null,
    { agentId, origin, way, walletId, source }: RefundReceipt,
    amountCents: Cents,
    emit: RefundArrivedEmitter,
  ): void {
    const row = this.#add({ transactionId, agentId, origin, way, amountCents, ...sourceOf(source) })
    this.#receive(row, amountCents, walletId, emit)
  }

  /** Assigns at most this much of a receipt to the payment, or to none. Returns the assigned amount. */
  #assign(row: RefundRow, most: Cents, transactionId: string | null): Cents {
    const part = minOf(row.amountCents, most)
    if (part === row.amountCents) this.#change(row, { transactionId })
    else {
      this.#change(row, {
        amountCents: subtractCents(row.amountCents, part),
        arrivedCents: subtractCents(row.arrivedCents, part),
      })
      const { id: _, ...members } = row
      this.#add({ ...members, transactionId, amountCents: part, arrivedCents: part })
    }
    return part
  }

  #add(members: Partial<RefundRow> & Pick<RefundRow, 'origin' | 'way' | 'amountCents'>): RefundRow {
    const { tenant, now } = this.#tenantNow
    const row: RefundRow = {
      ...emptyRefund,
      ...tenant,
      id: newId('refund'),
      createdAt: now,
      updatedAt: now,
      ...members,
    }
    this.#rows.set(row.id, row)
    this.#added.add(row)
    return row
  }

  #change(row: RefundRow, members: Partial<Omit<RefundRow, 'status'>>): void {
    Object.assign(row, { ...members, updatedAt: this.#tenantNow.now })
    this.#changed.add(row)
  }
}

const NOT_AWAITED = { dueAt: null, askDueAt: null } as const

const sourceOf = (source: RefundSource | null) => ({
  sourceType: source?.type ?? null,
  sourceId: source?.id ?? null,
})

function refundsWhere(condition: string) {
  const text = `
select ${selectColumnList(refundTable, 'r')} from refunds r where r.owner_id = $1 and r.mode = $2 and ${condition}`
  return async (
    sql: Sql,
    { ownerId, mode }: Tenant,
    ids: readonly string[],
    ...more: readonly string[]
  ): Promise<RefundRow[]> =>
    ids.length === 0 ? [] : sql<RefundRow & Row>(text, [ownerId, mode, ids, ...more])
}

const awaitedRefunds = refundsWhere(`r.transaction_id = any($3::text[]) and r.status = 'pending'`)
const refundsOfSources = refundsWhere('r.source_id = any($3::text[]) and r.source_type = $4')
export const refundsOfTransfers = refundsWhere('r.transfer_id = any($3::text[])')

/** The caller has locked the agents of their payments; without agents, the payments or their request. */
export async function loadRefundBook(
  sql: Sql,
  tenantNow: TenantNow,
  { ids = [], transactionIds = [], sources }: RefundsToOpen,
): Promise<RefundBook> {
  const { tenant } = tenantNow
  const [named, awaited, ofSources] = await Promise.all([
    refundsById(sql, tenant, ids),
    awaitedRefunds(sql, tenant, transactionIds),
    sources ? refundsOfSources(sql, tenant, sources.ids, sources.type) : [],
  ])
  return new RefundBook(tenantNow, [...named.values(), ...awaited, ...ofSources])
}

const MAX_OF_PAYMENT = 100

export const findRefundsOfTransaction = (transactionId: string, em: EntityReader): Promise<Refund[]> =>
  em.find(Refund, { transactionId }, { orderBy: { id: 'asc' }, limit: MAX_OF_PAYMENT })

/**
 * How much of a payment can still be returned, by a refund or a dispute. The caller has locked its agent, if
 * it has one, and then the transaction, since card payments change under the lock of the agent alone.
 */
export async function readRefundableCents(
  transaction: RefundedPayment,
  { sql, tenant, now }: SqlContext & TenantNow,
): Promise<Cents> {
  const refunds = await loadRefundBook(sql, { tenant, now }, { transactionIds: [transaction.id] })
  return refunds.refundableCents(transaction)
}

const REFUNDED_ON_REQUEST = `
select coalesce(sum(r.arrived_cents), 0)::bigint as cents from refunds r
where r.owner_id = $1 and r.mode = $2 and r.transaction_id = $3 and r.origin = 'asked'`

export async function sumRequestedRefunds(
  sql: Sql,
  { ownerId, mode }: Tenant,
  transactionId: string,
): Promise<Cents> {
  const [row] = await sql<{ cents: Cents }>(REFUNDED_ON_REQUEST, [ownerId, mode, transactionId])
  return row?.cents ?? NO_CENTS
}
