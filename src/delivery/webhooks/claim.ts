import { after, clock } from '../../kernel/clock.ts'
import { onConnection } from '../../kernel/connection.ts'
import { type Database, type Row, type Sql, sqlOn } from '../../kernel/database.ts'
import { deliveryMachine } from './delivery.ts'
import { type DeliveryRow, deliveryColumns, writeClaims } from './delivery-rows.ts'
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
  (select webhook_id from deliveries where status in ('pending', 'delivering') order by webhook_id limit 1)
  union all
  select (select d.webhook_id from deliveries d where d.status in ('pending', 'delivering')
    and d.webhook_id > w.webhook_id order by d.webhook_id limit 1)
  from waiting w where w.webhook_id is not null
)
select w.id, w.owner_id as "ownerId", w.failures > 0 as failing
from waiting join webhooks w on w.id = waiting.webhook_id
cross join lateral (
  select due_at from deliveries d where d.webhook_id = w.id and d.status in ('pending', 'delivering')
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

type Taken = DeliveryRow &
  Row & { body: string; requestId: string; url: string; secret: string } & Pick<
    Sealed,
    'nextSecret' | 'nextFrom'
  >

/** Of each subscription the oldest that nobody else has. */
const TAKE = `
select ${deliveryColumns}, e.request_id as "requestId", event_body(e.event, e.created_at, e.data) as body,
  w.url, w.secret, w.next_secret as "nextSecret", w.next_from as "nextFrom"
from unnest($1::text[], $2::int[]) as share(webhook_id, most)
cross join lateral (
  select * from deliveries d
  where d.webhook_id = share.webhook_id and d.status in ('pending', 'delivering') and d.due_at <= clock_timestamp()
  order by d.due_at limit share.most for update skip locked
) d
join webhooks w on w.id = d.webhook_id
join events e on e.id = d.event_id`

/** Longer than the answer to an attempt may take, with some time to wait for its turn. */
const LEASE_MS = 120_000

/** What the server loses of this, when it is killed, is taken once more: no commit waits for the disk. */
export const UNHURRIED = 'begin; set local synchronous_commit = off'

/** Takes them for a while: whoever dies with them leaves them to the others. */
export const take = (database: Database, shares: readonly Share[]): Promise<Claimed[]> =>
  onConnection(database, UNHURRIED, async client => {
    const rows = await claim(sqlOn(client), shares)
    await client.query('commit')
    return rows
  })

async function claim(sql: Sql, shares: readonly Share[]): Promise<Claimed[]> {
  const rows = await sql<Taken>(TAKE, [shares.map(({ lane }) => lane.id), shares.map(({ most }) => most)])
  const until = after(clock.real(), LEASE_MS)
  for (const row of rows) {
    deliveryMachine.move(row, 'delivering')
    Object.assign(row, { dueAt: until, claims: row.claims + 1, updatedAt: clock.real() })
  }
  await writeClaims(sql, rows)
  return rows.map(row => claimedOf(row, until))
}

function claimedOf(row: Taken, until: Date): Claimed {
  const { id, webhookId, claims, event, body, requestId, url, secret, nextSecret, nextFrom } = row
  const sealed = { id: webhookId, secret, nextSecret, nextFrom }
  return { id, webhookId, claim: claims, until, event, body, requestId, url, sealed }
}
