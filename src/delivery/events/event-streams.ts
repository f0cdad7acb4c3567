import { setTimeout as pause } from 'node:timers/promises'
import type { Tenant } from '../../kernel/contract/actor.ts'
import {
  type EventFollowRequest,
  MAX_EVENT_STREAMS,
  MAX_EVENT_WAITS,
  type StreamedEvent,
  type StreamedEventBatches,
} from '../../kernel/contract/follow.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { ProcessLeases } from '../../kernel/database/process-lease.ts'
import { FOLLOW_INTERVALS, type FollowIntervals, JournalFollower } from '../../kernel/journal/follow.ts'
import { readJournalHorizon } from '../../kernel/journal/journal-position.ts'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { lazily } from '../../values/lazily.ts'

export interface EventStreamTimes extends FollowIntervals {
  /** A heartbeat is sent after this long without an event. */
  readonly silenceMs: number
}

const TIMES: EventStreamTimes = { ...FOLLOW_INTERVALS, silenceMs: 15_000 }

interface Parts {
  readonly database: Database
  /** Calls it when another process may have written events: `events` of owners with a stream, `journal` of any owner. */
  readonly listen: (channel: 'events' | 'journal', onNotice: () => void) => () => void
  readonly leases: ProcessLeases
  readonly times: Partial<EventStreamTimes>
  readonly onEvents: (events: readonly StreamedEvent[]) => void
  readonly onFailure: (error: unknown) => void
}

export interface EventStreams {
  open(wish: EventFollowRequest): Promise<StreamedEventBatches | undefined>
  /**
   * Follows for the length of one request, without counting towards the owner's streams. Returns undefined at the limit of
   * waiting requests.
   */
  wait(wish: EventFollowRequest): Promise<StreamedEventBatches | undefined>
  onEvents(events: readonly Tenant[]): void
  count(): number
  stop(): Promise<void>
}

const OPEN = 'select open_event_stream($1, $2, $3, $4) as taken'
const CLOSE = 'delete from event_streams where (owner_id, id) = ($1, $2) returning place'
/** Milliseconds after which the places of a dead process are free. */
const LEASE_MS = 7_000
/** A client that resumes waits for its place: its old connection may have broken because its process died. */
const RESUMING = { forMs: LEASE_MS + 1_000, everyMs: 250 }
/** An older open transaction holds events back, so a waiting request checks again after this long. */
const WAITING_SILENCE_MS = 5_000
const AGAIN_AFTER_MS = 1_000

/** The streams of this process. It listens to other processes once it has had a stream, or a request that waited. */
export function eventStreams({ database, listen, leases, times, onEvents, onFailure }: Parts): EventStreams {
  const sql = sqlOn(database.pool)
  const { silenceMs, ...followTimes } = { ...TIMES, ...times }
  const follower = new JournalFollower({ sql, times: followTimes, onEvents, onFailure })
  const waits = waitingFor({ sql, follower, silenceMs: Math.min(silenceMs, WAITING_SILENCE_MS) })
  const open = new Set<string>()
  const closing = new Set<Promise<void>>()
  const lease = leases.of('streams', LEASE_MS)
  lease.keepWhile(() => open.size > 0)
  const hear = lazily(() => listen('events', () => follower.wake()))
  const hearAll = lazily(() => listen('journal', () => follower.wake()))
  let isStopping = false

  /** Also releases a place if it is unknown whether it was taken. */
  async function release(ownerId: string, id: string): Promise<void> {
    open.delete(id)
    while (!isStopping)
      try {
        await sql(CLOSE, [ownerId, id])
        return
      } catch (error) {
        onFailure(error)
        await pause(AGAIN_AFTER_MS, undefined, { ref: false })
      }
  }

  function close(ownerId: string, id: string): void {
    const released = release(ownerId, id).finally(() => closing.delete(released))
    closing.add(released)
  }

  return {
    async open(wish) {
      const { ownerId } = wish.tenant
      const id = newId('stream')
      const from = wish.from ?? (await horizonOfNow(sql))
      hear()
      const holder = await lease.hold()
      if (wish.ending.aborted) return follower.follow({ ...wish, from, silenceMs })
      open.add(id)
      wish.ending.addEventListener('abort', () => close(ownerId, id), { once: true })
      const isTaken = await acquireSlot(sql, [ownerId, id, holder, MAX_EVENT_STREAMS], wish).finally(() => {
        // A client that disconnected meanwhile has released its place, perhaps before it was taken.
        if (wish.ending.aborted) close(ownerId, id)
      })
      return isTaken ? follower.follow({ ...wish, from, silenceMs }) : undefined
    },
    async wait(wish) {
      hearAll()
      return waits(wish)
    },
    onEvents: follower.wake,
    count: () => open.size,
    async stop() {
      // Places still held expire with the lease, also while the database is unreachable.
      isStopping = true
      await Promise.all(closing)
      await lease.end().catch(onFailure)
    },
  }
}

async function acquireSlot(
  sql: Sql,
  values: readonly unknown[],
  { from, ending }: EventFollowRequest,
): Promise<boolean> {
  const until = clock.ticks() + (from ? RESUMING.forMs : 0)
  for (;;) {
    const [row] = await sql<{ taken: boolean }>(OPEN, values)
    if (row?.taken || ending.aborted || clock.ticks() >= until) return row?.taken === true
    await pause(RESUMING.everyMs, undefined, { ref: false })
  }
}

/**
 * The current horizon, for a client without a position. It is read twice, because a transaction of another
 * database that ends during the reading sets it back.
 */
const horizonOfNow = async (sql: Sql) => readJournalHorizon(sql, (await readJournalHorizon(sql)).writtenIn)

interface WaitParts {
  readonly sql: Sql
  readonly follower: JournalFollower
  readonly silenceMs: number
}

function waitingFor({ sql, follower, silenceMs }: WaitParts): EventStreams['wait'] {
  const waiting = new Set<EventFollowRequest>()
  return async wish => {
    if (waiting.size >= MAX_EVENT_WAITS || wish.ending.aborted) return undefined
    waiting.add(wish)
    wish.ending.addEventListener('abort', () => waiting.delete(wish), { once: true })
    const from = wish.from ?? (await horizonOfNow(sql))
    return follower.follow({ ...wish, from, silenceMs, isHurried: true })
  }
}
