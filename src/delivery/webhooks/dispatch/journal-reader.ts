import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { withDatabaseRetries } from '../../../kernel/database/retry.ts'
import { addMs, clock } from '../../../values/clock.ts'
import {
  type ClaimedDelivery,
  type EventRange,
  LEASE_MS,
  type NewDelivery,
  RECEIVERS,
  type Receiver,
} from './claim.ts'
import type { DeliveryAttemptResult } from './retry.ts'

/** The events and the deliveries that one read is to find. */
const AT_ONCE = 512
/** Deliveries that are left when more are read: enough for fast receivers until those have come. */
const LEFT = 384

/** A delivery without an outcome for this long is stored: it is seen in lists, and holds up nothing. */
const STORED_AFTER_MS = 500
const STORED_AT_ONCE = 1_000

const CLAIM = `
with async_commit as materialized (select set_config('synchronous_commit', 'off', true))
select e.more, e.range, e.id, e.webhook_id as "webhookId", e.event_id as "eventId", e.event, e.request_id as "requestId", e.body
from async_commit cross join lateral claim_events($1, $2, $3::bigint[]) e`

type EventRow = Row &
  Pick<ClaimedDelivery, 'id' | 'webhookId' | 'eventId' | 'event' | 'requestId' | 'body'> & {
    more: boolean
    range: bigint | null
  }

/**
 * Frees the ranges of this process that it does not know, to be read again: the connection ended between the commit of
 * their claim and the arrival of its rows.
 */
const FREE_UNKNOWN = `
with async_commit as materialized (select set_config('synchronous_commit', 'off', true))
update delivery_ranges r set leased_by = '' from async_commit where r.leased_by = $1 and r.id <> all($2::bigint[])`

const FINISH = 'select finish_ranges($1, $2) as freed'

/**
 * Reads the journal and claims the deliveries of its events to receivers without failures. They have no rows:
 * each is written once, with the outcome of its first attempt. If the process dies, another one reads its
 * ranges again; if it only lost the answer to a claim, it does so itself. What PostgreSQL has lost in a crash is found when
 * a range is to be removed: see `finish_ranges`.
 */
export class JournalReader {
  readonly #database: Database
  readonly #open = new Set<EventRange>()
  #finished: EventRange[] = []
  #hasMore = true
  #isReading = false
  #lease = ''
  /** How many deliveries the events of the last read had, on average. */
  #fanOut = 1

  constructor(database: Database) {
    this.#database = database
  }

  /** Whether to read: something may be new, and what was read before is nearly done. */
  get isReady(): boolean {
    return this.#hasMore && this.#count() <= LEFT
  }

  /** Whether no range is leased to this process. */
  get isIdle(): boolean {
    return !this.#isReading && this.#open.size === 0 && this.#finished.length === 0
  }

  /** Events may have been committed. */
  notice(): void {
    this.#hasMore = true
  }

  async read(lease: string): Promise<readonly NewDelivery[]> {
    const until = addMs(clock.real(), LEASE_MS)
    const sql = sqlOn(this.#database.pool)
    const finished = this.#finished.splice(0)
    this.#hasMore = false
    this.#isReading = true
    this.#lease = lease
    const ended = finished.map(({ id }) => id)
    try {
      await sql(FREE_UNKNOWN, [lease, [...ended, ...[...this.#open].map(({ id }) => id)]])
      const rows = await sql<EventRow>(CLAIM, [lease, Math.ceil(AT_ONCE / this.#fanOut), ended])
      const [first] = rows
      if (first?.more) this.#hasMore = true
      if (!first || first.range === null) return []
      const range: EventRange = { id: first.range, readAt: clock.ticks(), unstored: new Map() }
      const found = rows.filter(({ id }) => id !== null)
      for (const one of await withReceivers(sql, found, { until, lease, range }))
        range.unstored.set(one.id, one)
      if (found.length > 0) this.#open.add(range)
      else this.#finished.push(range)
      this.#fanOut = Math.max(1, found.length / new Set(found.map(({ eventId }) => eventId)).size || 1)
      return [...range.unstored.values()]
    } catch (error) {
      this.#hasMore = true
      this.#finished.push(...finished)
      throw error
    } finally {
      this.#isReading = false
    }
  }

  /** These have rows now. A range whose deliveries all have is finished. */
  stored(deliveries: Iterable<Pick<ClaimedDelivery, 'id' | 'range'>>): void {
    for (const { id, range } of deliveries) {
      if (!range?.unstored.delete(id) || range.unstored.size > 0) continue
      this.#open.delete(range)
      this.#finished.push(range)
    }
  }

  /** Stores what takes long, and removes the ranges that are finished; returns whether it has stored any. */
  async storeLate(olderThanMs = STORED_AFTER_MS): Promise<boolean> {
    const before = clock.ticks() - olderThanMs
    const late = [...this.#open].filter(({ readAt }) => readAt <= before)
    const sql = sqlOn(this.#database.pool)
    const unstored = late.flatMap(({ unstored }) => [...unstored.values()])
    if (unstored.length > 0) {
      await storeWaiting(sql, unstored, { claims: 1, leased: true })
      this.stored(unstored)
    }
    const finished = new Set(this.#finished)
    if (finished.size > 0 && (await this.#finish([...finished])) > 0) this.#hasMore = true
    this.#finished = this.#finished.filter(range => !finished.has(range))
    return unstored.length > 0
  }

  /** Returns how many of these ranges are to be read again, since PostgreSQL has lost deliveries of them. */
  async #finish(ranges: readonly EventRange[]): Promise<number> {
    const sql = sqlOn(this.#database.pool)
    const [row] = await sql<{ freed: number }>(FINISH, [this.#lease, ranges.map(({ id }) => id)])
    return row?.freed ?? 0
  }

  #count(): number {
    let count = 0
    for (const { unstored } of this.#open) count += unstored.size
    return count
  }
}

type Claim = Pick<NewDelivery, 'until' | 'lease' | 'range'>

async function withReceivers(sql: Sql, found: readonly EventRow[], claim: Claim): Promise<NewDelivery[]> {
  const ids = [...new Set(found.map(({ webhookId }) => webhookId))]
  const receivers = ids.length > 0 ? await sql<Receiver>(RECEIVERS, [ids]) : []
  const byId = new Map(receivers.map(receiver => [receiver.id, receiver]))
  return found.map(({ id, webhookId, eventId, event, requestId, body }) => {
    const receiver = byId.get(webhookId) as Receiver
    const { url, ownerId } = receiver
    return {
      id,
      webhookId,
      ownerId,
      eventId,
      event,
      requestId,
      body,
      claim: 1,
      url,
      sealed: receiver,
      ...claim,
    }
  })
}

const ASYNC_COMMIT = `async_commit as materialized (select set_config('synchronous_commit', 'off', true))`

/** A success of a receiver that has failed meanwhile is recorded with its health instead. */
const DELIVERED = `
with ${ASYNC_COMMIT}
insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, claims, tries, attempts)
select r.id, w.owner_id, w.mode, (r.attempt ->> 'at')::timestamptz, clock_timestamp(), w.id, r."eventId", r.event, 'delivered',
  1, 0, jsonb_build_array(r.attempt)
from async_commit
cross join jsonb_to_recordset($1::jsonb) as r(id text, "webhookId" text, "eventId" text, event text, attempt jsonb)
cross join lateral (select * from webhooks one where one.id = r."webhookId" and one.failures = 0 limit 1) w
on conflict (id) do nothing returning id`

interface Success {
  readonly delivery: NewDelivery
  readonly result: DeliveryAttemptResult
}

/** Writes the deliveries of first attempts that have succeeded, and returns their ids. */
export async function storeDelivered(sql: Sql, successes: readonly Success[]): Promise<Set<string>> {
  if (successes.length === 0) return new Set()
  const rows = successes.map(({ delivery: { id, webhookId, eventId, event }, result: { attempt } }) => ({
    id,
    webhookId,
    eventId,
    event,
    attempt,
  }))
  const stored = await withDatabaseRetries(() => sql<{ id: string }>(DELIVERED, [JSON.stringify(rows)]))
  return new Set(stored.map(({ id }) => id))
}

/** Stores nothing of a range that another process has taken over, which makes these deliveries itself. */
const WAITING = `
with ${ASYNC_COMMIT}
insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at, claims, tries,
  attempts, leased_until, leased_by, ahead_ms)
select r.id, w.owner_id, w.mode, clock_timestamp(), clock_timestamp(), w.id, e.id, e.event, 'pending', clock_timestamp(),
  r.claims, 0, '[]', r."leasedUntil", r."leasedBy", clock_ahead(w.owner_id, w.mode, e.created_at, e.recorded_at)
from async_commit
cross join jsonb_to_recordset($1::jsonb) as r(id text, "webhookId" text, "eventId" text, range bigint, lease text, claims integer,
  "leasedUntil" timestamptz, "leasedBy" text)
cross join lateral (
  select from delivery_ranges one where one.id = r.range and one.leased_by = r.lease limit 1 for share) of_range
cross join lateral (select * from webhooks one where one.id = r."webhookId" limit 1) w
cross join lateral (select * from events one where (one.owner_id, one.mode, one.id) = (w.owner_id, w.mode, r."eventId") limit 1) e
on conflict (id) do nothing`

/** Stores deliveries without an outcome: leased to the process, or for any process to claim. */
export async function storeWaiting(
  sql: Sql,
  deliveries: readonly NewDelivery[],
  { claims, leased }: { claims: 0 | 1; leased: boolean },
): Promise<void> {
  const rows = deliveries.map(({ id, webhookId, eventId, range, lease, until }) => ({
    ...{ id, webhookId, eventId, range: String(range.id), lease },
    ...{ claims, leasedUntil: leased ? until : null, leasedBy: leased ? lease : null },
  }))
  for (let n = 0; n < rows.length; n += STORED_AT_ONCE) {
    const some = JSON.stringify(rows.slice(n, n + STORED_AT_ONCE))
    await withDatabaseRetries(() => sql(WAITING, [some]))
  }
}
