import { setTimeout as rest } from 'node:timers/promises'
import type { Mode } from '../../../kernel/contract/actor.ts'
import { processActor } from '../../../kernel/contract/actor.ts'
import type { RegisteredOperation } from '../../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import type { ExecuteCall } from '../../../kernel/run/execute.ts'
import { addMs, clock, days } from '../../../values/clock.ts'
import { firstIdAt } from '../../../values/ids.ts'
import { MAX_WAITING_BY_PLAN_JSON } from '../webhook.ts'

interface Parts {
  readonly database: Database
  readonly execute: ExecuteCall
  readonly operations: readonly RegisteredOperation[]
  readonly onFailure: (error: unknown) => void
}

interface WebhookRow extends Row {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
}

interface Paused extends WebhookRow {
  readonly free: number
}

const AT_ONCE = 256
/**
 * The pause after a round that created deliveries (so that requests can emit), one that found no room, and
 * any other, which then waits until it is woken.
 */
const REST_MS = { created: 25, paused: 100, idle: 500 }
/** A subscription that waits until its backlog has room. */
export const BACKLOG_DUE_SQL = `
select clock_timestamp() where exists (
  select from webhooks where backlog_after is not null and status = 'active' and deleted_at is null)`

/** Counting waiting deliveries may take at most a tenth of the time. */
const COUNT_SHARE = 10

/**
 * Pauses subscriptions with too many waiting deliveries, creates the next deliveries of paused ones as room
 * becomes free, and resumes those that caught up. Any number of processes may run it.
 */
export class BacklogKeeper {
  readonly #parts: Parts
  readonly #sql: Sql
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  #waking = Promise.withResolvers<void>()
  #isWoken = false
  #countAt = 0
  /** Whether a wake-up came too early to count what waits. */
  #isCountOwed = false

  /** Deliveries were created, or a subscription is behind. */
  readonly wake = (): void => {
    this.#isWoken = true
    this.#waking.resolve()
  }

  constructor(parts: Parts) {
    this.#parts = parts
    this.#sql = sqlOn(parts.database.pool)
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#isWoken = false
      const next = await this.#round().catch((error: unknown) => {
        this.#parts.onFailure(error)
        return REST_MS.idle
      })
      await rest(next, undefined, { signal, ref: false }).catch(() => undefined)
      this.#waking = Promise.withResolvers()
      if (next === REST_MS.idle && !this.#isWoken && !this.#isCountOwed) await this.#waking.promise
    }
  }

  async #round(): Promise<number> {
    this.#isCountOwed = clock.ticks() < this.#countAt
    if (!this.#isCountOwed) await this.#pauseOverfull()
    const paused = await this.#sql<Paused>(`select * from paused_by_backlog($1::jsonb, ${AT_ONCE})`, [
      MAX_WAITING_BY_PLAN_JSON,
    ])
    const caughtUp: WebhookRow[] = []
    let created = 0
    for (const webhook of paused.filter(({ free }) => free > 0)) {
      const step = await createBacklogDeliveries(this.#sql, webhook)
      created += step.made
      if (step.isThrough) caughtUp.push(webhook)
    }
    await this.#runOperation('webhooks.resume', caughtUp)
    if (created > 0) return REST_MS.created
    return paused.length > caughtUp.length ? REST_MS.paused : REST_MS.idle
  }

  async #pauseOverfull(): Promise<void> {
    const began = clock.ticks()
    const overfull = await this.#sql<WebhookRow>('select * from overfull_webhooks($1::jsonb)', [
      MAX_WAITING_BY_PLAN_JSON,
    ])
    const took = clock.ticks() - began
    this.#countAt = clock.ticks() + Math.max(REST_MS.idle, took * COUNT_SHARE)
    await this.#runOperation('webhooks.pause', overfull)
  }

  /** Changes subscriptions through an operation, so that events are emitted: one call for all of a tenant. */
  async #runOperation(key: string, webhookRows: readonly WebhookRow[]): Promise<void> {
    const operation = this.#parts.operations.find(candidate => candidate.key === key)
    if (!operation) return
    for (const webhooks of Map.groupBy(webhookRows, ({ owner_id, mode }) => `${owner_id}|${mode}`).values()) {
      const [{ owner_id: ownerId, mode } = webhooks[0] as WebhookRow] = webhooks
      await this.#parts.execute({
        operation,
        actor: processActor({ ownerId, mode }),
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
  readonly isThrough: boolean
}

const REPLAY = 'select made, is_through as "isThrough" from replay_events($1, $2, $3)'

/** Creates the next deliveries of a paused subscription, except for events too old to be sent. */
export async function createBacklogDeliveries(
  sql: Sql,
  { id, free }: Pick<Paused, 'id' | 'free'>,
): Promise<Step> {
  const earliest = firstIdAt('event', addMs(clock.real(), -RETENTION_MS))
  const [step] = await sql<Step & Row>(REPLAY, [id, free, earliest])
  if (step && step.made > 0) await sql('notify deliveries')
  return step ?? { made: 0, isThrough: false }
}

export const deliveryOverdueSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>('select overdue_seconds() as seconds'))[0]?.seconds ?? null

/** Counting stops here: exact numbers beyond this are expensive and uninformative. */
const MAX_COUNTED = 10_000

type Counts = Readonly<Record<'pending' | 'dead', number>>

export async function deliveryCounts(sql: Sql): Promise<Counts> {
  const [counts] = await sql<Counts>(`select pending::int, dead::int from delivery_counts(${MAX_COUNTED})`)
  return counts as Counts
}

export const countWebhooksBehind = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(BEHIND))[0]?.count ?? 0

const BEHIND = `
select count(*)::int as count from (
  select from webhooks where backlog_after is not null and status = 'active' and deleted_at is null limit ${MAX_COUNTED}) found`

export const countPausedWebhooks = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(`select paused_webhooks(${MAX_COUNTED})::int as count`))[0]?.count ?? 0

/** How long a delivery is kept, in any status. Its event is kept for good. */
const RETENTION_MS = days(30)
const EXPIRED_AT_ONCE = 5_000

const EXPIRE = `
delete from deliveries where ctid = any(array(
  select ctid from deliveries where id < $1 order by id limit ${EXPIRED_AT_ONCE} for update skip locked))
returning 1`

/** Removes old deliveries, dead letters included, in small steps, so that no request waits for its locks. */
export async function expireDeliveries({ pool }: Database, stopping?: AbortSignal): Promise<void> {
  const before = firstIdAt('delivery', addMs(clock.real(), -RETENTION_MS))
  let removed = EXPIRED_AT_ONCE
  while (removed === EXPIRED_AT_ONCE) {
    stopping?.throwIfAborted()
    removed = (await sqlOn(pool)(EXPIRE, [before])).length
  }
}
