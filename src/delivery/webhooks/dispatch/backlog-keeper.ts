import { setTimeout as rest } from 'node:timers/promises'
import { processOf } from '../../../kernel/background/deadlines.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Registered } from '../../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import type { Execute } from '../../../kernel/run/execute.ts'
import { after, clock } from '../../../values/clock.ts'
import { firstIdAt } from '../../../values/ids.ts'
import { WAITING } from '../plan-limits.ts'
import { KEPT_MS } from './expiry.ts'

interface Parts {
  readonly database: Database
  readonly execute: Execute
  readonly operations: readonly Registered[]
  readonly onFailure: (error: unknown) => void
}

interface Found extends Row {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
}

interface Paused extends Found {
  /** How many deliveries can be made for it now. */
  readonly free: number
}

const AT_ONCE = 256
/** How long it rests: when it has made deliveries, so that others can publish; when some wait for room; else. */
const REST_MS = { made: 25, paused: 100, idle: 500 }
/** Counting what waits takes a tenth of its time at most. */
const COUNT_SHARE = 10

/**
 * Pauses subscriptions for which too much waits, makes the next deliveries of the paused ones as room becomes free, and
 * lets those go on that have caught up: from as many processes side by side as there are.
 */
export class BacklogKeeper {
  readonly #parts: Parts
  readonly #sql: Sql
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #countAt = 0

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = sqlOn(parts.database.pool)
    this.#running = this.#run()
  }

  /** Finishes the round that is under way. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      const next = await this.#round().catch((error: unknown) => {
        this.#parts.onFailure(error)
        return REST_MS.idle
      })
      await rest(next, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #round(): Promise<number> {
    if (clock.ticks() >= this.#countAt) await this.#pauseOverfull()
    const paused = await this.#sql<Paused>(`select * from paused_by_backlog($1::jsonb, ${AT_ONCE})`, [
      WAITING,
    ])
    const through: Found[] = []
    let made = 0
    for (const one of paused.filter(({ free }) => free > 0)) {
      const step = await replay(this.#sql, one)
      made += step.made
      if (step.isThrough) through.push(one)
    }
    await this.#tell('webhooks.resume', through)
    if (made > 0) return REST_MS.made
    return paused.length > through.length ? REST_MS.paused : REST_MS.idle
  }

  async #pauseOverfull(): Promise<void> {
    const began = clock.ticks()
    const overfull = await this.#sql<Found>('select * from overfull_webhooks($1::jsonb)', [WAITING])
    const took = clock.ticks() - began
    this.#countAt = clock.ticks() + Math.max(REST_MS.idle, took * COUNT_SHARE)
    await this.#tell('webhooks.pause', overfull)
  }

  /** By an operation, as everything is changed that somebody wants to hear of: one for all of a tenant. */
  async #tell(key: string, found: readonly Found[]): Promise<void> {
    const operation = this.#parts.operations.find(one => one.key === key)
    if (!operation) return
    for (const webhooks of Map.groupBy(found, ({ owner_id, mode }) => `${owner_id}|${mode}`).values()) {
      const [{ owner_id: ownerId, mode } = webhooks[0] as Found] = webhooks
      await this.#parts.execute({
        operation,
        actor: processOf({ ownerId, mode }),
        input: { params: {}, query: {}, body: { webhookIds: webhooks.slice(0, 100).map(({ id }) => id) } },
        requestId: `webhooks:${ownerId}`,
        address: null,
        idempotencyKey: null,
      })
    }
  }
}

interface Step {
  readonly made: number
  /** Nothing is left to be made. */
  readonly isThrough: boolean
}

const REPLAY = 'select made, is_through as "isThrough" from replay_events($1, $2, $3)'

/** Makes the next deliveries of a paused subscription, of events that are not too old to be sent. */
export async function replay(sql: Sql, { id, free }: Pick<Paused, 'id' | 'free'>): Promise<Step> {
  const earliest = firstIdAt('event', after(clock.real(), -KEPT_MS))
  const [step] = await sql<Step & Row>(REPLAY, [id, free, earliest])
  if (step && step.made > 0) await sql('notify deliveries')
  return step ?? { made: 0, isThrough: false }
}
