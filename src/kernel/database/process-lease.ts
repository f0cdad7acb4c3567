import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from './batcher.ts'
import { type Database, sqlOn } from './prepared-sql.ts'

export const LEASE_MS = 10_000

export const LEASE_RENEWAL_MS = 3_000

/** Unused for this long, a lease is deleted: an idle process writes nothing. */
const UNUSED_MS = 5_000

/**
 * Both wait for the disk: a process believes in its lease for as long as this says, and so must PostgreSQL after a crash. A
 * renewal that it lost would show a living process as dead.
 */
const RENEW = `
update process_leases l set held_until = clock_timestamp() + r.held_ms * interval '1 ms'
from unnest($1::text[], $2::int[]) as r(id, held_ms) where l.id = r.id returning l.id`

const BEGIN = `
insert into process_leases (id, kind, held_until) values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`

const FREE = `
select coalesce(sum(free_leases(kind)), 0)::int as freed
from unnest(array['deliveries', 'pushes', 'channel_messages', 'outbox', 'streams', 'calls']) as kind`

/** How much of a lease must be left when a call of another system begins. */
const MARGIN_MS = 1_000

/** Each living process has renewed its lease once in this time, unless it cannot reach the database. */
const ALL_RENEW_MS = LEASE_RENEWAL_MS + 2_000

export type LeaseKind = 'deliveries' | 'pushes' | 'channel_messages' | 'outbox' | 'streams' | 'calls'

interface Renewal {
  readonly id: string
  readonly heldMs: number
}

type Renew = (renewal: Renewal) => Promise<boolean>

/** The leases of a process. One statement renews all that are due at the same time. */
export class ProcessLeases {
  readonly #sql: Sql
  readonly #renew: Renew
  readonly #heldMs: number
  readonly #unusedMs: number
  readonly #leases = new Map<LeaseKind, ProcessLease>()

  constructor({ pool }: Database, heldMs: number = LEASE_MS, unusedMs: number = UNUSED_MS) {
    this.#sql = sqlOn(pool)
    this.#heldMs = heldMs
    this.#unusedMs = unusedMs
    const renewAll = batcher<Renewal, boolean>({ size: 100, inFlight: 1 }, async renewals => {
      const columns = [renewals.map(({ id }) => id), renewals.map(({ heldMs }) => heldMs)]
      const renewed = new Set((await this.#sql<{ id: string }>(RENEW, columns)).map(({ id }) => id))
      return renewals.map(({ id }) => ({ status: 'fulfilled', value: renewed.has(id) }))
    })
    this.#renew = renewal => renewAll('', renewal)
  }

  of(kind: LeaseKind, heldMs: number = this.#heldMs): ProcessLease {
    const parts = { sql: this.#sql, renew: this.#renew, kind, heldMs, unusedMs: this.#unusedMs }
    const lease = this.#leases.get(kind) ?? new ProcessLease(parts)
    this.#leases.set(kind, lease)
    return lease
  }

  /** Renews the leases that are in use and deletes the others. */
  async round(): Promise<void> {
    const rounds = await Promise.allSettled([...this.#leases.values()].map(lease => lease.round()))
    const failed = rounds.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async end(): Promise<void> {
    await Promise.all([...this.#leases.values()].map(lease => lease.end()))
  }
}

export const NEXT_LEASE_END = 'select min(held_until) from process_leases'

/** Frees what processes without a valid lease had claimed; returns how many rows. */
export const freeDeadLeases = async (sql: Sql): Promise<number> =>
  (await sql<{ freed: number }>(FREE))[0]?.freed ?? 0

interface Parts {
  readonly sql: Sql
  readonly renew: Renew
  readonly kind: LeaseKind
  readonly heldMs: number
  readonly unusedMs: number
}

/**
 * One lease covers all rows that a process has claimed, so claiming a row costs nothing more. The process
 * renews it while it has claims; once the process has died, others free its rows within seconds. While the
 * lease's row exists nothing was freed, so after a long halt of the process or of PostgreSQL it keeps its
 * claims.
 */
export class ProcessLease {
  readonly #parts: Parts
  readonly #users = new Set<() => boolean>()
  #id: string | undefined
  #begunAt = 0
  #heldUntil = 0
  #usedAt = 0
  #worksUnderWay = 0
  /** When renewing last failed or came too late: other processes may have lost the database, too. */
  #interruptedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** Undefined where others may have freed the claimed rows. */
  get held(): string | undefined {
    return clock.ticks() < this.#heldUntil ? this.#id : undefined
  }

  get worksUnderWay(): number {
    return this.#worksUnderWay
  }

  /** Keeps the lease while `hasClaims` answers true; returns a function that ends this. */
  keepWhile(hasClaims: () => boolean): () => void {
    this.#users.add(hasClaims)
    return () => void this.#users.delete(hasClaims)
  }

  during<T>(work: Promise<T>): Promise<T> {
    this.#worksUnderWay++
    return work.finally(() => {
      this.#worksUnderWay--
    })
  }

  async hold(): Promise<string> {
    this.#usedAt = clock.ticks()
    while (this.held === undefined) await this.#renew()
    return this.held
  }

  /**
   * Whether this is still the valid lease, with time left to begin a call. A process that was paused may find
   * a new one.
   */
  async stillHolds(id: string): Promise<boolean> {
    if (clock.ticks() >= this.#heldUntil - MARGIN_MS) await this.#renew()
    return (await this.hold()) === id
  }

  /**
   * Whether an expired lease proves a dead process. Each living process first gets the time to renew its own:
   * after an interruption, and after this process has rested, as it saw no interruption then.
   */
  get tellsDead(): boolean {
    const isSteady = clock.ticks() - this.#interruptedAt >= this.#parts.heldMs
    return isSteady && this.held !== undefined && !this.isNew
  }

  get isNew(): boolean {
    return clock.ticks() - this.#begunAt < ALL_RENEW_MS
  }

  /** Ends once the lease is no longer new. */
  async grow(): Promise<void> {
    while (this.isNew) await pause(ALL_RENEW_MS - (clock.ticks() - this.#begunAt))
  }

  async round(): Promise<void> {
    if (this.#renewing !== undefined) return this.#renewing
    if (this.#id === undefined) return
    if (this.#isInUse()) return this.#renew()
    await this.#delete()
  }

  async end(): Promise<void> {
    await this.#renewing
    await this.#delete()
  }

  #isInUse(): boolean {
    if (this.#worksUnderWay > 0 || clock.ticks() - this.#usedAt < this.#parts.unusedMs) return true
    return [...this.#users].some(hasClaims => hasClaims())
  }

  async #delete(): Promise<void> {
    const id = this.#id
    this.#id = undefined
    if (id) await this.#parts.sql('delete from process_leases where id = $1', [id])
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#renewNow()
      .catch((error: unknown) => {
        this.#interruptedAt = clock.ticks()
        throw error
      })
      .finally(() => {
        this.#renewing = undefined
      })
    return this.#renewing
  }

  async #renewNow(): Promise<void> {
    const { sql, renew, kind, heldMs } = this.#parts
    const startedAt = clock.ticks()
    if (this.#id && startedAt >= this.#heldUntil) this.#interruptedAt = startedAt
    const isRenewed = this.#id !== undefined && (await renew({ id: this.#id, heldMs }))
    if (!isRenewed) {
      const id = randomUUID()
      await sql(BEGIN, [id, kind, heldMs])
      this.#id = id
      this.#begunAt = startedAt
    }
    this.#heldUntil = startedAt + heldMs
  }
}
