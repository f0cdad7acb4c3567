import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Receiver } from './send.ts'

/** A push that this process has leased, with what sending it needs. */
export interface ClaimedPush extends Receiver, Row {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly eventId: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** Leases the oldest pushes of each subscription. It skips from one subscription to the next by the index. */
const CLAIM = `
with recursive waiting as (
  (select subscription_id from pushes order by subscription_id limit 1)
  union all
  select (select p.subscription_id from pushes p where p.subscription_id > w.subscription_id
    order by p.subscription_id limit 1)
  from waiting w where w.subscription_id is not null
), free as (
  select id, row_number() over (partition by owner_id order by id) as nth
  from waiting join push_subscriptions on id = subscription_id
  where id <> all($1::text[]) and owner_id <> all($2::text[])
), claimed as (
  update pushes set leased_by = $5, leased_until = clock_timestamp() + interval '1 minute' where ctid = any(array(
    select p.ctid from (select id from free where nth <= $3 order by nth, id limit $4) f
    cross join lateral (
      select ctid from pushes where subscription_id = f.id
        and (leased_until is null or leased_until <= clock_timestamp())
      order by event_id limit 4 for update skip locked) p))
  returning owner_id, mode, subscription_id, event_id
)
select s.id, s.owner_id as "ownerId", s.mode, s.endpoint, s.p256dh, s.auth, e.id as "eventId", e.event, e.data,
  e.created_at as "createdAt"
from claimed c
join push_subscriptions s on (s.owner_id, s.mode, s.id) = (c.owner_id, c.mode, c.subscription_id)
cross join lateral (
  select * from events one where (one.owner_id, one.mode, one.id) = (c.owner_id, c.mode, c.event_id) limit 1) e
order by e.id`

export interface Room {
  /** Subscriptions that are being served. */
  readonly busy: readonly string[]
  /** Owners who have no room for another one. */
  readonly busyOwners: readonly string[]
  readonly ofOwner: number
  readonly ofAll: number
}

/** Leases pushes to this process; they are free again if it dies. */
export const claimPushes = (
  sql: Sql,
  { busy, busyOwners, ofOwner, ofAll }: Room,
  lease: string,
): Promise<ClaimedPush[]> => sql<ClaimedPush>(CLAIM, [busy, busyOwners, ofOwner, ofAll, lease])

/** Deletes pushes after their one attempt, whatever came of it. */
export const deletePushes = (sql: Sql, pushes: readonly ClaimedPush[]): Promise<unknown> =>
  sql('delete from pushes where subscription_id = $1 and event_id = any($2::text[])', [
    pushes[0]?.id,
    pushes.map(({ eventId }) => eventId),
  ])

/** Deletes pushes that are too old to be of use. */
export const deleteOldPushes = (sql: Sql): Promise<unknown> =>
  sql(`delete from pushes where created_at < clock_timestamp() - interval '1 hour'`)

export const oldestPushSeconds = async (sql: Sql): Promise<number | null> =>
  (
    await sql<{ seconds: number }>(
      `select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from pushes
       order by created_at limit 1`,
    )
  )[0]?.seconds ?? null
