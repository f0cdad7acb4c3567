import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { Sql } from '../contract/sql.ts'
import { freeDeadLeases, LEASE_MS, NEXT_LEASE_END } from '../database/process-lease.ts'

export interface WatchedWork {
  /** A query for one instant from which there is work, or none. It reads few rows. */
  readonly dueAt: string
  readonly wake: () => void
  readonly onFreed?: () => void
}

export interface DueWorkWatchOptions {
  readonly sql: Sql
  readonly pollMs: number
  readonly leaseMs?: number
  readonly onFailure: (error: unknown) => void
}

const AGAIN_AFTER_MS = 1_000

/**
 * Asks in one statement what is due, for all background parts of a process: work whose notice was lost, work
 * that becomes due by time, and the claims of dead processes. Between two queries it sleeps until the next
 * instant that it knows. Without parts it asks nothing.
 */
export class DueWorkWatch {
  readonly #parts: DueWorkWatchOptions
  readonly #watched = new Set<WatchedWork>()
  #running: Promise<void> | undefined
  #stopping = new AbortController()
  #askedAt = Number.NEGATIVE_INFINITY
  /** Since then no query failed or came too late, so each living process could renew its lease. */
  #steadySince = Number.POSITIVE_INFINITY

  constructor(parts: DueWorkWatchOptions) {
    this.#parts = parts
  }

  /** Returns a function that ends the watching; once no part is left, the last query has ended with it. */
  add(watched: WatchedWork): () => Promise<void> {
    this.#watched.add(watched)
    this.#running ??= this.#run()
    return async () => {
      this.#watched.delete(watched)
      if (this.#watched.size > 0) return
      this.#stopping.abort()
      await this.#running
    }
  }

  async #run(): Promise<void> {
    this.#stopping = new AbortController()
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const rest = await this.#round().catch((error: unknown) => {
        this.#steadySince = Number.POSITIVE_INFINITY
        this.#parts.onFailure(error)
        return AGAIN_AFTER_MS
      })
      await pause(rest, undefined, { signal, ref: false }).catch(() => undefined)
    }
    this.#running = undefined
  }

  /** Returns for how long nothing is due that is known now. */
  async #round(): Promise<number> {
    const now = clock.ticks()
    const { pollMs, leaseMs = LEASE_MS } = this.#parts
    if (now - this.#askedAt > leaseMs) this.#steadySince = Number.POSITIVE_INFINITY
    this.#askedAt = now
    this.#steadySince = Math.min(this.#steadySince, now)
    const parts = [...this.#watched]
    const [leaseEndsIn = null, ...waits] = await this.#ask(parts)
    for (const [n, part] of parts.entries()) if (isDue(waits[n])) part.wake()
    // After a halt of everything (PostgreSQL, for one) each process first gets the time to renew its own lease.
    const isSteady = now - this.#steadySince >= leaseMs
    if (isSteady && isDue(leaseEndsIn) && (await freeDeadLeases(this.#parts.sql)) > 0)
      for (const { onFreed } of this.#watched) onFreed?.()
    const ahead = [leaseEndsIn, ...waits].filter(ms => ms !== null && ms > 0) as number[]
    return Math.min(pollMs, ...ahead)
  }

  /** The milliseconds until the next lease ends, and until the work of each part is due. */
  async #ask(parts: readonly WatchedWork[]): Promise<(number | null)[]> {
    const queries = [NEXT_LEASE_END, ...parts.map(({ dueAt }) => dueAt)]
    const waits = queries.map(query => `(extract(epoch from (${query}) - clock_timestamp()) * 1000)::float8`)
    const [row] = await this.#parts.sql<{ waits: (number | null)[] }>(
      `select array[${waits.join(', ')}] as waits`,
    )
    return row?.waits ?? []
  }
}

const isDue = (ms: number | null | undefined): boolean => typeof ms === 'number' && ms <= 0
