import { randomUUID } from 'node:crypto'
import { clock } from '../../values/clock.ts'
import type { Row, Sql } from '../contract/sql.ts'
import { type Database, sqlOn } from './prepared-sql.ts'

const LEASE_MS = 10_000

export const RENEW_MS = 2_000

const RENEW = `
update process_leases set held_until = clock_timestamp() + $2 * interval '1 ms' where id = $1 returning id`

const BEGIN = `
insert into process_leases (id, kind, held_until)
values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`

/** How much of a lease must be left when a call of another system begins. */
const MARGIN_MS = 1_000

export type LeaseKind = 'deliveries' | 'pushes' | 'outbox' | 'streams' | 'calls'

/**
 * One lease covers all rows that a process has claimed, so claiming a row costs nothing more. The process
 * renews it; once the process has died, others free its rows within seconds. While the lease's row exists
 * nothing was freed, so after a long halt of the process or of PostgreSQL it keeps its claims.
 */
export class ProcessLease {
  readonly #sql: Sql
  readonly #kind: LeaseKind
  #id: string | undefined
  #heldUntil = 0
  #steadySince = 0
  /** When renewing last failed or came too late: other processes may have lost the database, too. */
  #interruptedAt = Number.NEGATIVE_INFINITY
  #renewing: Promise<void> | undefined

  readonly #heldMs: number

  constructor({ pool }: Database, kind: LeaseKind, heldMs: number = LEASE_MS) {
    this.#sql = sqlOn(pool)
    this.#kind = kind
    this.#heldMs = heldMs
  }

  /** Undefined where others may have freed the claimed rows. */
  get held(): string | undefined {
    return clock.ticks() < this.#heldUntil ? this.#id : undefined
  }

  async hold(): Promise<string> {
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
   * Whether an expired lease proves a dead process: after an interruption each process first gets the time to
   * renew its own.
   */
  get tellsDead(): boolean {
    return clock.ticks() - this.#interruptedAt >= this.#heldMs
  }

  async round(): Promise<number> {
    await this.#renew()
    // After a halt of everything (PostgreSQL, for one) each process first gets the time to renew its own
    // lease.
    if (clock.ticks() - this.#steadySince < this.#heldMs) return 0
    const [freed] = await this.#sql<{ count: number }>('select free_leases($1) as count', [this.#kind])
    return freed?.count ?? 0
  }

  async end(): Promise<void> {
    await this.#renewing
    const id = this.#id
    this.#id = undefined
    if (id) await this.#sql('delete from process_leases where id = $1', [id])
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
    const startedAt = clock.ticks()
    const isSteady = startedAt < this.#heldUntil
    if (this.#id && !isSteady) this.#interruptedAt = startedAt
    const [renewed] = this.#id ? await this.#sql<Row>(RENEW, [this.#id, this.#heldMs]) : []
    if (!renewed) {
      const id = randomUUID()
      await this.#sql(BEGIN, [id, this.#kind, this.#heldMs])
      this.#id = id
    }
    if (!renewed || !isSteady) this.#steadySince = startedAt
    this.#heldUntil = startedAt + this.#heldMs
  }
}
