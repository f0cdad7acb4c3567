import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../database/prepared-sql.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import { type Deliver, type Due, outboxOf } from '../journal/outbox.ts'

/** How many calls to Temporal are under way at once: it takes no more a second from more of them. */
const CONCURRENCY = 32
const POLL = 1_000
const LONGEST_PAUSE = 5_000

export interface RelayParts {
  readonly database: Database
  readonly lease: Pick<ProcessLease, 'hold'>
  readonly deliver: Deliver
  readonly onFailure: (error: unknown) => void
}

/** Brings the outbox to Temporal, from as many processes side by side as there are. */
export class Relay {
  readonly #outbox: ReturnType<typeof outboxOf>
  readonly #holder: RelayParts['lease']
  readonly #deliver: Deliver
  readonly #onFailure: (error: unknown) => void
  readonly #underWay = new Set<Promise<void>>()
  /** Leased already: to lease them one by one would cost a commit for each. */
  readonly #ready: Due[][] = []
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #idling = new AbortController()
  #woken = false
  #failures = 0

  /** There is something to do. */
  readonly wake = (): void => {
    this.#woken = true
    this.#idling.abort()
  }

  constructor({ database, lease, deliver, onFailure }: RelayParts) {
    this.#outbox = outboxOf(database)
    this.#holder = lease
    this.#deliver = deliver
    this.#onFailure = onFailure
    this.#running = this.#run()
  }

  /** Takes nothing more and finishes what is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const busy = await this.#round().catch(error => this.#failed(error))
      if (this.#failures > 0) await this.#recover()
      else if (!busy) await this.#idle()
    }
    await Promise.all([...this.#underWay, this.#giveBack()])
  }

  /** What was leased and is not begun goes to another relay at once, not when the lease is over. */
  async #giveBack(): Promise<void> {
    const ids = this.#ready.flat().map(({ id }) => id)
    await Promise.all(ids.map(this.#outbox.giveBack)).catch(error => this.#failed(error))
  }

  /** False where there is nothing to do just now. */
  async #round(): Promise<boolean> {
    if (this.#ready.length === 0) await this.#lease()
    if (this.#stopping.signal.aborted) return true
    const busy = this.#ready.length > 0
    while (this.#ready.length > 0 && this.#underWay.size < CONCURRENCY) this.#begin(this.#ready.shift() ?? [])
    if (this.#underWay.size >= CONCURRENCY) await Promise.race(this.#underWay)
    if (!busy) this.#failures = 0
    return busy
  }

  async #lease(): Promise<void> {
    this.#woken = false
    const rows = await this.#outbox.take(CONCURRENCY, await this.#holder.hold())
    this.#ready.push(...Map.groupBy(rows, ({ workflowId }) => workflowId).values())
  }

  #begin(rows: readonly Due[]): void {
    const work: Promise<void> = this.#handOver(rows).finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  async #handOver(rows: readonly Due[]): Promise<void> {
    try {
      await this.#deliver(rows[0] as Due)
      this.#failures = 0
      await Promise.all(rows.map(({ id }) => this.#outbox.done(id)))
    } catch (error) {
      this.#failed(error)
      await Promise.all(rows.map(({ id }) => this.#outbox.postpone(id))).catch(() => undefined)
    }
  }

  #failed(error: unknown): void {
    this.#failures ||= 1
    this.#onFailure(error)
  }

  /** Until there is something to do, or it is time to look for it. */
  async #idle(): Promise<void> {
    this.#idling = new AbortController()
    if (!this.#woken) await rest(POLL, this.#idling.signal)
  }

  /** What is in trouble is tried again later, and later still each time, whatever arrives meanwhile. */
  async #recover(): Promise<void> {
    await rest(Math.min(LONGEST_PAUSE, 100 * 2 ** this.#failures), this.#stopping.signal)
    if (this.#failures > 0) this.#failures++
  }
}

const rest = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
