import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Receiver } from './send.ts'

/** A push that this process has leased, with what sending it needs. */
export interface Taken extends Receiver, Row {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly eventId: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** From one subscription to the next by the index, however much waits for each; of each the oldest. */
const TAKE = `
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
), taken as (
  update pushes set leased_by = $5, leased_until = clock_timestamp() + interval '1 minute' where ctid = any(array(
    select p.ctid from (select id from free where nth <= $3 order by nth, id limit $4) f
    cross join lateral (
      select ctid from pushes where subscription_id = f.id
        and (leased_until is null or leased_until <= clock_timestamp())
      order by event_id limit 4 for update skip locked) p))
  returning subscription_id, event_id
)
select s.id, s.owner_id as "ownerId", s.mode, s.endpoint, s.p256dh, s.auth, e.id as "eventId", e.event, e.data,
  e.created_at as "createdAt"
from taken join push_subscriptions s on s.id = subscription_id join events e on e.id = event_id
order by e.id`

export interface Room {
  /** Subscriptions that are being served, and owners of whom enough are. */
  readonly busy: readonly string[]
  readonly busyOwners: readonly string[]
  readonly ofOwner: number
  readonly ofAll: number
}

/** Each is leased to whoever sends it, and free again where that process dies. */
export const take = (sql: Sql, { busy, busyOwners, ofOwner, ofAll }: Room, lease: string): Promise<Taken[]> =>
  sql<Taken>(TAKE, [busy, busyOwners, ofOwner, ofAll, lease])

/** They have been sent, whatever came of it: nothing is sent twice because a push service did not take it. */
export const forget = (sql: Sql, pushes: readonly Taken[]): Promise<unknown> =>
  sql('delete from pushes where subscription_id = $1 and event_id = any($2::text[])', [
    pushes[0]?.id,
    pushes.map(({ eventId }) => eventId),
  ])

/** News of yesterday. */
export const forgetOld = (sql: Sql): Promise<unknown> =>
  sql(`delete from pushes where created_at < clock_timestamp() - interval '1 hour'`)

export const oldestPushSeconds = async (sql: Sql): Promise<number | null> =>
  (
    await sql<{ seconds: number }>(
      `select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from pushes
       order by created_at limit 1`,
    )
  )[0]?.seconds ?? null
