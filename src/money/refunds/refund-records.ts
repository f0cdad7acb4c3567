import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { newId } from '../../values/ids.ts'
import type { Euros } from '../../values/money.ts'
import { refundTransaction, type TransactionRow } from '../transactions/index.ts'
import type { Arrival, Asked, RefundSource } from './asked-and-arrived.ts'
import { type ArrivedEmitter, type RefundEmitter, refundEvent } from './events.ts'
import { type RefundFailure, refundMachine } from './refund.ts'
import {
  awaitedOf,
  blankRefund,
  insertRefunds,
  ofSources,
  type RefundRow,
  updateRefunds,
} from './refund-rows.ts'

const smaller = (one: Euros, other: Euros): Euros => (one < other ? one : other)
const restOf = ({ amountEuros, arrivedEuros }: RefundRow): Euros => amountEuros - arrivedEuros

/** What has come back for an authorization, a transfer, a credit; and the payment that it is of. */
interface RefundsToOpen {
  /** Payments of which something may be awaited. */
  readonly transactionIds?: readonly string[]
  /** Records of which something has come back before, all of one type. */
  readonly sources?: { readonly type: string; readonly ids: readonly string[] }
}

/**
 * The refunds of payments that the caller has locked. This is the one place that records what comes back of a payment,
 * whoever has sent it; the rows are written with the postings.
 */
export class Refunds {
  readonly #tenantNow: TenantNow
  readonly #rows: Set<RefundRow>
  readonly #added = new Set<RefundRow>()
  readonly #changed = new Set<RefundRow>()

  constructor({ tenant: { ownerId, mode }, now }: TenantNow, known: readonly RefundRow[]) {
    this.#tenantNow = { tenant: { ownerId, mode }, now }
    this.#rows = new Set(new Map(known.map(row => [row.id, row])).values())
  }

  find(id: string): RefundRow | undefined {
    return [...this.#rows].find(row => row.id === id)
  }

  /** What is awaited of a payment. */
  awaitedEuros(transactionId: string): Euros {
    return this.#awaitedOf(transactionId).reduce((sum, row) => sum + restOf(row), 0n)
  }

  /** Whether just so much was asked for, and has not come yet. */
  awaits(transactionId: string, amountEuros: Euros): boolean {
    return this.#awaitedOf(transactionId).some(row => restOf(row) === amountEuros)
  }

  /** Notes that money of a payment has been asked back. */
  ask(
    { id: transactionId, agentId }: TransactionRow,
    asked: Asked,
    emit: RefundEmitter<'refund.requested'>,
  ): RefundRow {
    const { source, ...members } = asked
    const row = this.#add({ ...members, transactionId, agentId, origin: 'asked', ...sourceOf(source) })
    emit('refund.requested', refundEvent(row))
    return row
  }

  /** What was asked for is there, all that is left of it. */
  settle(row: RefundRow, transaction: TransactionRow, walletId: string | null, emit: ArrivedEmitter): void {
    const rest = restOf(row)
    refundTransaction(transaction, rest, this.#tenantNow.now, emit)
    this.#arrive(row, rest, walletId, emit)
  }

  /** The processor is asked to ask the merchant, and again at this time unless it answers. */
  tryToAsk(row: RefundRow, attempts: number, againAt: Date): void {
    this.#change(row, { attempts, askDueAt: againAt })
  }

  /** The processor has asked the merchant, or cannot: nothing is left to ask. */
  endAsking(row: RefundRow, isAsked: boolean): void {
    this.#change(row, { askDueAt: null, merchantAskedAt: isAsked ? this.#tenantNow.now : null })
  }

  /** What was asked for does not come. */
  fail(row: RefundRow, failure: RefundFailure, emit: RefundEmitter<'refund.failed'>): boolean {
    if (!refundMachine.move(row, 'failed')) return false
    this.#change(row, { failure, ...NOT_AWAITED })
    emit('refund.failed', refundEvent(row))
    return true
  }

  /** What had arrived has been sent back: the payment is as it was before. */
  returned(
    row: RefundRow,
    transaction: TransactionRow,
    failure: RefundFailure,
    emit: RefundEmitter<'refund.failed'> & ArrivedEmitter,
  ): void {
    const { arrivedEuros } = row
    if (!this.fail(row, failure, emit)) return
    this.#change(row, { arrivedEuros: 0n })
    refundTransaction(transaction, -arrivedEuros, this.#tenantNow.now, emit)
  }

  cancel(row: RefundRow, emit: RefundEmitter<'refund.cancelled'>): boolean {
    if (!refundMachine.move(row, 'cancelled')) return false
    this.#change(row, NOT_AWAITED)
    emit('refund.cancelled', refundEvent(row))
    return true
  }

  /**
   * Money has come back: it counts for its payment as far as that goes, and the rest is recorded without one. Gives what
   * counts for the payment.
   */
  arrive(transaction: TransactionRow | undefined, arrival: Arrival, emit: ArrivedEmitter): Euros {
    const left = transaction ? transaction.amountEuros - transaction.refundedEuros : 0n
    const ofPayment = smaller(arrival.amountEuros, left)
    if (transaction && ofPayment > 0n) refundTransaction(transaction, ofPayment, this.#tenantNow.now, emit)
    this.record(transaction?.id ?? null, arrival, ofPayment, emit)
    return ofPayment
  }

  /** Records money that has come back, of which so much is of the payment: what is awaited of it has come then. */
  record(transactionId: string | null, arrival: Arrival, ofPayment: Euros, emit: ArrivedEmitter): void {
    let left = ofPayment
    for (const row of transactionId ? this.#matching(transactionId, ofPayment) : []) {
      const part = smaller(restOf(row), left)
      left -= part
      if (part === 0n) break
      this.#change(row, sourceOf(arrival.source))
      this.#arrive(row, part, arrival.walletId, emit)
    }
    if (left > 0n) this.#addArrived(transactionId, arrival, left, emit)
    const above = arrival.amountEuros - ofPayment
    if (above > 0n) this.#addArrived(null, arrival, above, emit)
  }

  /** Says how much of what has come for a record is of the payment, as more becomes known of that. */
  link(source: RefundSource, transactionId: string, ofPayment: Euros): void {
    const rows = [...this.#rows].filter(row => row.sourceType === source.type && row.sourceId === source.id)
    const linked = rows.filter(row => row.transactionId === transactionId)
    let missing = ofPayment - linked.reduce((sum, { arrivedEuros }) => sum + arrivedEuros, 0n)
    for (const row of rows.filter(one => one.transactionId === null)) {
      if (missing <= 0n) break
      missing -= this.#take(row, missing, transactionId)
    }
    for (const row of linked.filter(({ origin }) => origin !== 'asked').toReversed()) {
      if (missing >= 0n) break
      missing += this.#take(row, -missing, null)
    }
  }

  async write(sql: Sql): Promise<void> {
    const { tenant } = this.#tenantNow
    const changed = [...this.#changed].filter(row => !this.#added.has(row))
    await Promise.all([insertRefunds(sql, [...this.#added]), updateRefunds(sql, tenant, changed)])
  }

  #awaitedOf(transactionId: string): RefundRow[] {
    return [...this.#rows].filter(row => row.transactionId === transactionId && row.status === 'pending')
  }

  /** What the money may have been asked for by: the same amount first, then what was asked for first. */
  #matching(transactionId: string, amountEuros: Euros): RefundRow[] {
    const rank = (row: RefundRow): number => (restOf(row) === amountEuros ? 0 : 1)
    return this.#awaitedOf(transactionId).toSorted(
      (one, other) => rank(one) - rank(other) || (one.id < other.id ? -1 : 1),
    )
  }

  #arrive(row: RefundRow, amountEuros: Euros, walletId: string | null, emit: ArrivedEmitter): void {
    const { now } = this.#tenantNow
    this.#change(row, { arrivedEuros: row.arrivedEuros + amountEuros, walletId })
    if (restOf(row) > 0n || !refundMachine.move(row, 'completed')) return
    this.#change(row, { completedAt: now, ...NOT_AWAITED })
    emit('refund.completed', refundEvent(row))
  }

  #addArrived(
    transactionId: string | null,
    { agentId, origin, way, walletId, source }: Arrival,
    amountEuros: Euros,
    emit: ArrivedEmitter,
  ): void {
    const row = this.#add({ transactionId, agentId, origin, way, amountEuros, ...sourceOf(source) })
    this.#arrive(row, amountEuros, walletId, emit)
  }

  /** Moves a part of what has come to this payment, or away from it; gives how much that was. */
  #take(row: RefundRow, most: Euros, transactionId: string | null): Euros {
    const part = smaller(row.amountEuros, most)
    if (part === row.amountEuros) this.#change(row, { transactionId })
    else {
      this.#change(row, { amountEuros: row.amountEuros - part, arrivedEuros: row.arrivedEuros - part })
      const { id: _, ...members } = row
      this.#add({ ...members, transactionId, amountEuros: part, arrivedEuros: part })
    }
    return part
  }

  #add(members: Partial<RefundRow> & Pick<RefundRow, 'origin' | 'way' | 'amountEuros'>): RefundRow {
    const { tenant, now } = this.#tenantNow
    const row: RefundRow = {
      ...blankRefund,
      ...tenant,
      id: newId('refund'),
      createdAt: now,
      updatedAt: now,
      ...members,
    }
    this.#rows.add(row)
    this.#added.add(row)
    return row
  }

  #change(row: RefundRow, members: Partial<Omit<RefundRow, 'status'>>): void {
    Object.assign(row, { ...members, updatedAt: this.#tenantNow.now })
    this.#changed.add(row)
  }
}

/** What was waited for is there, or does not come: the merchant is asked for nothing more. */
const NOT_AWAITED = { dueAt: null, askDueAt: null } as const

const sourceOf = (source: RefundSource | undefined) =>
  source ? { sourceType: source.type, sourceId: source.id } : {}

/** Opens the refunds of payments. The caller has locked their agents, and where they have none, the payments. */
export async function openRefunds(
  sql: Sql,
  tenantNow: TenantNow,
  { transactionIds = [], sources }: RefundsToOpen,
): Promise<Refunds> {
  const { tenant } = tenantNow
  const [awaited, ofRecords] = await Promise.all([
    awaitedOf(sql, tenant, transactionIds),
    sources ? ofSources(sql, tenant, sources.type, sources.ids) : [],
  ])
  return new Refunds(tenantNow, [...awaited, ...ofRecords])
}
