import { type Database, type Row, sqlOn } from '../../kernel/database.ts'
import type { Share } from './lanes.ts'
import type { Sealed } from './secrets.ts'

/** A subscription for which something is due. */
export interface DueLane extends Row {
  readonly id: string
  readonly ownerId: string
  readonly failing: boolean
}

/** Of as many subscriptions at once. */
const LANES = 256

/**
 * From one subscription to the next by the index, however much waits for each: a receiver that has been dead for a long
 * time costs one step.
 */
const DUE = `
with recursive waiting as (
  (select webhook_id from deliveries where status = 'pending' order by webhook_id limit 1)
  union all
  select (select d.webhook_id from deliveries d where d.status = 'pending'
    and d.webhook_id > w.webhook_id order by d.webhook_id limit 1)
  from waiting w where w.webhook_id is not null
)
select w.id, w.owner_id as "ownerId", w.failures > 0 as failing
from waiting join webhooks w on w.id = waiting.webhook_id
cross join lateral (
  select due_at from deliveries d where d.webhook_id = w.id and d.status = 'pending'
  order by due_at limit 1
) first
where w.status = 'active' and w.deleted_at is null and first.due_at <= clock_timestamp()
  and (w.paused_until is null or w.paused_until <= clock_timestamp())
order by first.due_at limit ${LANES}`

export const dueLanes = ({ pool }: Database): Promise<DueLane[]> => sqlOn(pool)<DueLane>(DUE)

/** A delivery that is ours for a while, with all that sending it takes. */
export interface Claimed {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  readonly until: Date
  readonly event: string
  readonly body: string
  readonly requestId: string
  readonly url: string
  readonly sealed: Sealed
}

type Taken = Row & Omit<Claimed, 'sealed'> & Omit<Sealed, 'id'>

/** Longer than the answer to an attempt may take, with some time to wait for its turn. */
const LEASE = '2 minutes'

/**
 * Of each subscription the oldest that nobody else has. Whoever dies with them leaves them to the others; what the server
 * loses of this, when it is killed, is taken once more: the commit does not wait for the disk.
 */
const TAKE = `
with unhurried as materialized (select set_config('synchronous_commit', 'off', true)), free as (
  select d.id from unhurried, unnest($1::text[], $2::int[]) as share(webhook_id, most)
  cross join lateral (
    select id from deliveries d
    where d.webhook_id = share.webhook_id and d.status = 'pending' and d.due_at <= clock_timestamp()
    order by d.due_at limit share.most for update skip locked
  ) d
), taken as (
  update deliveries set leased = true, claims = claims + 1, updated_at = clock_timestamp(),
    due_at = clock_timestamp() + interval '${LEASE}'
  where id = any(array(select id from free))
  returning id, webhook_id, event_id, claims, due_at
)
select t.id, w.id as "webhookId", t.claims as claim, t.due_at as until, e.event, e.request_id as "requestId",
  event_body(e.event, e.created_at, e.data) as body,
  w.url, w.secret, w.next_secret as "nextSecret", w.next_from as "nextFrom"
from taken t join webhooks w on w.id = t.webhook_id join events e on e.id = t.event_id`

/** Takes them for a while. */
export async function take({ pool }: Database, shares: readonly Share[]): Promise<Claimed[]> {
  const [ids, counts] = [shares.map(({ lane }) => lane.id), shares.map(({ most }) => most)]
  const rows = await sqlOn(pool)<Taken>(TAKE, [ids, counts])
  return rows.map(({ secret, nextSecret, nextFrom, ...claimed }) => ({
    ...claimed,
    sealed: { id: claimed.webhookId, secret, nextSecret, nextFrom },
  }))
}
