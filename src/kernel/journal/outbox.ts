import { setTimeout as pause } from 'node:timers/promises'
import { formatMoney } from '../../values/money.ts'
import type { Process, ProcessInput, ProcessRecord, StartInput } from '../contract/process.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from '../database/batcher.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'

export interface OutboxMessage extends Record<string, unknown> {
  readonly id: string
  readonly process: string
  readonly recurs: boolean
  readonly workflowId: string
  readonly input: StartInput
}

/** Hands a message to Temporal; throws if Temporal does not accept it. Delivering one twice does no harm. */
export type Deliver = (message: OutboxMessage) => Promise<void>

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

const DONE = 'delete from outbox where id = any($1::text[]) returning id'

/** Exponential back-off with jitter, a minute at most. */
const POSTPONE = `
update outbox set due_at = clock_timestamp()
  + least(60, 0.25 * power(2, least(attempts, 8))) * (0.5 + random() / 2) * interval '1 second',
  leased_by = null, leased_until = null
where id = any($1::text[]) returning id`

const GIVE_BACK = `
update outbox set attempts = attempts - 1, leased_by = null, leased_until = null where id = any($1::text[]) returning id`

/** Ids are ordered by time, so the lowest id is the oldest message. */
const OLDEST = `
select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from outbox order by id limit 1`

export const oldestSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>(OLDEST))[0]?.seconds ?? null

/** Ids that arrive while a statement runs share the next one. */
export function outboxOf({ pool }: Database) {
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

/** PostgreSQL's NOTIFY channels: messages for Temporal, webhook deliveries, web pushes, events that someone follows. */
export const channels = ['outbox', 'deliveries', 'pushes', 'events'] as const
export type Channel = (typeof channels)[number]

/**
 * Notifies the listeners of all processes, one notice at a time, with a pause between them. A lost notice
 * only delays: listeners also poll.
 */
export function notifier({ pool }: Database, channel: Channel, pauseMs = 0): () => void {
  let announcing: Promise<unknown> | undefined
  let again = false
  const announce = (): void => {
    again = announcing !== undefined
    announcing ??= pool
      .query(`notify ${channel}`)
      .catch(() => undefined)
      .then(() => (pauseMs > 0 ? pause(pauseMs, undefined, { ref: false }) : undefined))
      .finally(() => {
        announcing = undefined
        if (again) announce()
      })
  }
  return announce
}

export const notifiersOf = (database: Database): Record<Channel, () => void> => ({
  outbox: notifier(database, 'outbox'),
  deliveries: notifier(database, 'deliveries'),
  pushes: notifier(database, 'pushes'),
  // Nearly every commit has events, and one notice per pause is enough for all followers.
  events: notifier(database, 'events', 10),
})

/** `Intent of € 25.00 in test mode, agent_…` */
export function runSummary(
  { name, title = name }: Pick<Process, 'name' | 'title'>,
  mode: ProcessInput['mode'],
  { id, agentId, amountCents, about }: ProcessRecord,
): string {
  const subject = about ?? (amountCents === undefined ? undefined : formatMoney(amountCents))
  const agent = agentId && agentId !== id ? `, ${agentId}` : ''
  return `${title} ${subject ? `of ${subject}` : id} in ${mode} mode${agent}`
}
