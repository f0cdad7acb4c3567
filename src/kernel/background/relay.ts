import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { Database } from '../database/prepared-sql.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import {
  type DeliverOutboxMessage,
  MAX_OUTBOX_BACKOFF_MS,
  type OutboxMessage,
  openOutbox,
} from '../journal/outbox.ts'

/** Calls to Temporal at once. More would not raise its throughput. */
const CONCURRENCY = 32
const ENDLESS_MS = 2 ** 31 - 1
const RETRY_POLL_MS = 1_000
const MAX_PAUSE = 5_000

export interface OutboxRelayParts {
  readonly database: Database
  readonly lease: Pick<ProcessLease, 'hold'>
  readonly deliver: DeliverOutboxMessage
  readonly onFailure: (error: unknown) => void
  /** The polling interval without notices, in milliseconds; endless where the watch finds what is due. */
  readonly pollMs?: number
}

export class OutboxRelay {
  readonly #outbox: ReturnType<typeof openOutbox>
  readonly #lease: OutboxRelayParts['lease']
  readonly #deliver: DeliverOutboxMessage
  readonly #onFailure: (error: unknown) => void
  readonly #pollMs: number
  readonly #underWay = new Set<Promise<void>>()
  /** Claimed and not begun, by workflow. Claiming them one by one would cost a commit each. */
  readonly #claimed: OutboxMessage[][] = []
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #idling = new AbortController()
  #woken = false
  /** Whether the last claim took so many that more may be due. */
  #hasMore = false
  #failures = 0
  #failedAt = Number.NEGATIVE_INFINITY

  readonly wake = (): void => {
    this.#woken = true
    this.#idling.abort()
  }

  get hasClaims(): boolean {
    return this.#claimed.length > 0 || this.#underWay.size > 0
  }

  constructor({ database, lease, deliver, onFailure, pollMs = ENDLESS_MS }: OutboxRelayParts) {
    this.#outbox = openOutbox(database)
    this.#lease = lease
    this.#deliver = deliver
    this.#onFailure = onFailure
    this.#pollMs = pollMs
    this.#running = this.#run()
  }

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

  /** Releases the claimed messages that were not begun, so that another relay can take them at once. */
  async #giveBack(): Promise<void> {
    const ids = this.#claimed.flat().map(({ id }) => id)
    await Promise.all(ids.map(this.#outbox.giveBack)).catch(error => this.#failed(error))
  }

  async #round(): Promise<boolean> {
    if (this.#claimed.length === 0) await this.#claim()
    if (this.#stopping.signal.aborted) return true
    while (this.#claimed.length > 0 && this.#underWay.size < CONCURRENCY)
      this.#begin(this.#claimed.shift() ?? [])
    if (this.#underWay.size >= CONCURRENCY) await Promise.race(this.#underWay)
    return this.#claimed.length > 0 || this.#hasMore
  }

  async #claim(): Promise<void> {
    this.#woken = false
    const messages = await this.#outbox.claim(CONCURRENCY, await this.#lease.hold())
    this.#hasMore = messages.length === CONCURRENCY
    if (messages.length === 0) this.#failures = 0
    this.#claimed.push(...Map.groupBy(messages, ({ workflowId }) => workflowId).values())
  }

  #begin(messages: readonly OutboxMessage[]): void {
    const work: Promise<void> = this.#handOver(messages).finally(() => this.#underWay.delete(work))
    this.#underWay.add(work)
  }

  async #handOver(messages: readonly OutboxMessage[]): Promise<void> {
    try {
      // One that begins a run anew stands for all: by another one Temporal would refuse that.
      const [first, ...others] = messages.toSorted((one, other) => Number(other.recurs) - Number(one.recurs))
      await this.#deliver(first as OutboxMessage, others)
      this.#failures = 0
      await Promise.all(messages.map(({ id }) => this.#outbox.done(id)))
    } catch (error) {
      this.#failed(error)
      await Promise.all(messages.map(({ id }) => this.#outbox.postpone(id))).catch(() => undefined)
    }
  }

  #failed(error: unknown): void {
    this.#failures ||= 1
    this.#failedAt = clock.ticks()
    this.#onFailure(error)
  }

  async #idle(): Promise<void> {
    this.#idling = new AbortController()
    const mayPostpone = clock.ticks() - this.#failedAt < MAX_OUTBOX_BACKOFF_MS
    const pollMs = mayPostpone ? RETRY_POLL_MS : this.#pollMs
    if (!this.#woken) await rest(pollMs, this.#idling.signal)
  }

  /** Backs off exponentially after a failure, even if more messages arrive meanwhile. */
  async #recover(): Promise<void> {
    await rest(Math.min(MAX_PAUSE, 100 * 2 ** this.#failures), this.#stopping.signal)
    if (this.#failures > 0) this.#failures++
  }
}

const rest = (milliseconds: number, signal: AbortSignal): Promise<unknown> =>
  pause(milliseconds, undefined, { signal, ref: false }).catch(() => undefined)
