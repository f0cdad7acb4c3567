import { randomUUID } from 'node:crypto'
import { clock } from '../../values/clock.ts'
import type { Row, Sql } from '../contract/sql.ts'
import { type Database, sqlOn } from './prepared-sql.ts'

/** For how long a process is waited for that does not say that it lives. */
const HELD_MS = 10_000

/** How often it should say so. */
export const RENEW_MS = 2_000

const RENEW = `
update process_leases set held_until = clock_timestamp() + $2 * interval '1 ms' where id = $1 returning id`

const BEGIN = `
insert into process_leases (id, kind, held_until)
values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`

export type LeaseKind = 'deliveries' | 'pushes' | 'outbox'

/**
 * What this process takes is its own while it says again and again that it lives, at no cost for each thing taken; once
 * it has died, the others free what it had within seconds. While its row is there nobody has freed anything, however
 * late it is: after a long halt, of itself or of PostgreSQL, it goes on with what it has.
 */
export class ProcessLease {
  readonly #sql: Sql
  readonly #kind: LeaseKind
  #id: string | undefined
  #heldUntil = 0
  /** Since when it has been renewed without a gap. */
  #steadySince = 0
  #renewing: Promise<void> | undefined

  readonly #heldMs: number

  constructor({ pool }: Database, kind: LeaseKind, heldMs = HELD_MS) {
    this.#sql = sqlOn(pool)
    this.#kind = kind
    this.#heldMs = heldMs
  }

  /** The lease under which something may be begun now; undefined where others may have what was taken. */
  get held(): string | undefined {
    return clock.ticks() < this.#heldUntil ? this.#id : undefined
  }

  /** The lease under which something may be taken. */
  async hold(): Promise<string> {
    while (this.held === undefined) await this.#renew()
    return this.held
  }

  /** Says that it lives, and frees what the dead had; gives how much that was. */
  async round(): Promise<number> {
    await this.#renew()
    // Where everybody was halted, PostgreSQL for one, each has the time to say that it lives.
    if (clock.ticks() - this.#steadySince < this.#heldMs) return 0
    const [freed] = await this.#sql<{ count: number }>('select free_leases($1) as count', [this.#kind])
    return freed?.count ?? 0
  }

  /** Nothing is held any more. */
  async end(): Promise<void> {
    await this.#renewing
    const id = this.#id
    this.#id = undefined
    if (id) await this.#sql('delete from process_leases where id = $1', [id])
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#renewNow().finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewNow(): Promise<void> {
    const asked = clock.ticks()
    const isSteady = asked < this.#heldUntil
    const [kept] = this.#id ? await this.#sql<Row>(RENEW, [this.#id, this.#heldMs]) : []
    if (!kept) {
      const id = randomUUID()
      await this.#sql(BEGIN, [id, this.#kind, this.#heldMs])
      this.#id = id
    }
    if (!kept || !isSteady) this.#steadySince = asked
    this.#heldUntil = asked + this.#heldMs
  }
}
