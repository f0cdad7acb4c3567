import type { StartInput } from '../contract/process.ts'
import type { Sql } from '../contract/sql.ts'
import { batcher } from '../database/batcher.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'

/** Work that waits for Temporal, as the relay leases it. */
export interface Due extends Record<string, unknown> {
  readonly id: string
  readonly process: string
  readonly recurs: boolean
  readonly workflowId: string
  readonly input: StartInput
}

/** Hands it over; throws where Temporal does not take it now. What it has taken before is taken. */
export type Deliver = (due: Due) => Promise<void>

/** How long a relay may take; after that another one takes the row for its own. What a dead one had is free sooner, by its lease. */
const LEASE = '30 seconds'

const TAKE = `
update outbox set due_at = clock_timestamp() + interval '${LEASE}', attempts = attempts + 1, leased_by = $2
where id in (select id from outbox where due_at <= clock_timestamp() order by due_at limit $1 for update skip locked)
returning id, process, recurs, workflow_id as "workflowId", input`

const DONE = 'delete from outbox where id = any($1::text[]) returning id'

/** Later, and later still each time, never all at the same moment. */
const POSTPONE = `
update outbox set due_at = clock_timestamp()
  + least(60, 0.25 * power(2, least(attempts, 8))) * (0.5 + random() / 2) * interval '1 second', leased_by = null
where id = any($1::text[]) returning id`

/** As if it had not been taken: nothing was tried. */
const GIVE_BACK = `
update outbox set due_at = clock_timestamp(), attempts = attempts - 1, leased_by = null where id = any($1::text[]) returning id`

/** The first by id is the oldest: ids are in the order of time. */
const OLDEST = `
select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from outbox order by id limit 1`

export const oldestSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>(OLDEST))[0]?.seconds ?? null

/** What a relay does with rows; each kind of statement takes all that wait for it. */
export function outboxOf({ pool }: Database) {
  const sql = sqlOn(pool)
  const inOne = (text: string) => {
    const batched = batcher<string, void>({ size: 256, inFlight: 1 }, async ids => {
      await sql(text, [ids])
      return ids.map(() => ({ status: 'fulfilled', value: undefined }))
    })
    return (id: string) => batched('', id)
  }
  return {
    /** For the process that holds this lease. */
    take: (most: number, lease: string): Promise<Due[]> => sql<Due>(TAKE, [most, lease]),
    done: inOne(DONE),
    postpone: inOne(POSTPONE),
    giveBack: inOne(GIVE_BACK),
  }
}

/** What is announced: work for Temporal, deliveries to make, browsers to tell. */
export const channels = ['outbox', 'deliveries', 'pushes'] as const
export type Channel = (typeof channels)[number]

/** Tells whoever listens, in all processes; at most one notice at a time, and it is no matter if one is lost. */
export function announcer({ pool }: Database, channel: Channel): () => void {
  let announcing: Promise<unknown> | undefined
  let again = false
  const announce = (): void => {
    again = announcing !== undefined
    announcing ??= pool
      .query(`notify ${channel}`)
      .catch(() => undefined)
      .finally(() => {
        announcing = undefined
        if (again) announce()
      })
  }
  return announce
}

export const announcersOf = (database: Database): Record<Channel, () => void> => ({
  outbox: announcer(database, 'outbox'),
  deliveries: announcer(database, 'deliveries'),
  pushes: announcer(database, 'pushes'),
})
