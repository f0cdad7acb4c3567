import { setTimeout as pause } from 'node:timers/promises'
import { formatMoney } from '../../values/money.ts'
import type { DurableProcess, ProcessInput, ProcessRecord, ProcessStartInput } from '../contract/process.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from '../database/batcher.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'

export interface OutboxMessage extends Record<string, unknown> {
  readonly id: string
  readonly process: string
  readonly recurs: boolean
  readonly workflowId: string
  readonly input: ProcessStartInput
}

/**
 * Hands a message to Temporal, for itself and for others to the same run; throws if Temporal does not accept it.
 * Delivering one twice does no harm.
 */
export type DeliverOutboxMessage = (
  message: OutboxMessage,
  others?: readonly OutboxMessage[],
) => Promise<void>

/**
 * A lease changes no indexed column, so its row changes in place: claimed rows are few and stay in the index of what is due.
 * After this time another relay claims the row again. The rows of a dead relay are free sooner, with its lease.
 */
const LEASE = '30 seconds'

const CLAIM = `
update outbox set leased_until = clock_timestamp() + interval '${LEASE}', attempts = attempts + 1, leased_by = $2
where id in (
  select id from outbox where due_at <= clock_timestamp() and leased_until <= clock_timestamp() is not false
  order by due_at limit $1 for update skip locked)
returning id, process, recurs, workflow_id as "workflowId", input`

/** Messages that are claimed are left out: the end of a claim is found by a later poll. */
export const OUTBOX_DUE_SQL = `
select due_at from outbox where leased_until <= clock_timestamp() is not false order by due_at limit 1`

const DONE = 'delete from outbox where id = any($1::text[]) returning id'

export const MAX_OUTBOX_BACKOFF_MS = 60_000

const POSTPONE = `
update outbox set due_at = clock_timestamp()
  + least(${MAX_OUTBOX_BACKOFF_MS / 1_000}, 0.25 * power(2, least(attempts, 8))) * (0.5 + random() / 2) * interval '1 second',
  leased_by = null, leased_until = null
where id = any($1::text[]) returning id`

const GIVE_BACK = `
update outbox set attempts = attempts - 1, leased_by = null, leased_until = null where id = any($1::text[]) returning id`

/** Ids are ordered by time, so the lowest id is the oldest message. */
const OLDEST = `
select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from outbox order by id limit 1`

export const oldestOutboxSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>(OLDEST))[0]?.seconds ?? null

/** Ids that arrive while a statement runs share the next one. */
export function openOutbox({ pool }: Database) {
  const sql = sqlOn(pool)
  const inBatches = (text: string) => {
    const batched = batcher<string, void>({ size: 256, inFlight: 1 }, async ids => {
      await sql(text, [ids])
      return ids.map(() => ({ status: 'fulfilled', value: undefined }))
    })
    return (id: string) => batched('', id)
  }
  return {
    claim: (most: number, lease: string): Promise<OutboxMessage[]> =>
      sql<OutboxMessage>(CLAIM, [most, lease]),
    done: inBatches(DONE),
    postpone: inBatches(POSTPONE),
    giveBack: inBatches(GIVE_BACK),
  }
}

/** PostgreSQL's NOTIFY channels: messages for Temporal, webhook deliveries, web pushes, messages to people, events that someone follows. */
export const notifyChannels = ['outbox', 'deliveries', 'pushes', 'channel_messages', 'events'] as const
export type NotifyChannel = (typeof notifyChannels)[number]

/** Notifies the listeners of channels, in all processes. `journal` is that of all events. */
export type Notify = (channels: readonly (NotifyChannel | 'journal')[]) => void

const NOTIFY = `select pg_notify(channel, '') from unnest($1::text[]) as channel`

const SHORTEST_PAUSE_MS = 10

/**
 * The first notice is sent at once. Above a hundred commits a second the pause between two grows, up to
 * `longestPauseMs`, so that background work takes more at a time. A lost notice only delays: the watch finds
 * what is due.
 */
export function openNotifier({ pool }: Database, longestPauseMs: number): Notify {
  const sql = sqlOn(pool)
  const waiting = new Set<string>()
  let commits = 0
  let pauseMs = SHORTEST_PAUSE_MS
  let isAnnouncing = false

  async function announce(): Promise<void> {
    isAnnouncing = true
    while (waiting.size > 0) {
      const isBusy = commits * SHORTEST_PAUSE_MS > pauseMs
      pauseMs = isBusy ? Math.min(2 * pauseMs, longestPauseMs) : Math.max(pauseMs / 2, SHORTEST_PAUSE_MS)
      commits = 0
      const names = [...waiting]
      waiting.clear()
      await sql(NOTIFY, [names]).catch(() => undefined)
      await pause(pauseMs, undefined, { ref: false })
    }
    isAnnouncing = false
  }

  return channels => {
    if (channels.length === 0) return
    for (const channel of channels) waiting.add(channel)
    commits++
    if (!isAnnouncing) void announce()
  }
}

export function workflowRunSummary(
  { name, title = name }: Pick<DurableProcess, 'name' | 'title'>,
  mode: ProcessInput['mode'],
  { id, amountCents, about }: ProcessRecord,
): string {
  const subject = about ?? (amountCents === undefined ? undefined : formatMoney(amountCents))
  return `${title} ${subject ? `of ${subject}` : id}, ${mode}`
}
