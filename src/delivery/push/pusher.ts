import { ClaimedWork } from '../../kernel/background/claimed-work.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../kernel/database/prepared-sql.ts'
import type { ProcessLease } from '../../kernel/database/process-lease.ts'
import {
  type PushParts,
  type PushReceiver,
  type PushResult,
  pushPayload,
  pushTopic,
  pushUrgency,
  sendPush,
  type VapidKeys,
  vapidKeys,
} from './send.ts'

interface ClaimedPush extends PushReceiver, Row {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly eventId: string
  readonly event: string
  readonly data: Readonly<Record<string, unknown>>
  readonly createdAt: Date
}

/** Leases the oldest pushes of each subscription. The index skips from one subscription to the next. */
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

interface Room {
  readonly busy: readonly string[]
  readonly busyOwners: readonly string[]
  readonly ofOwner: number
  readonly ofAll: number
}

const claimPushes = (
  sql: Sql,
  { busy, busyOwners, ofOwner, ofAll }: Room,
  lease: string,
): Promise<ClaimedPush[]> => sql<ClaimedPush>(CLAIM, [busy, busyOwners, ofOwner, ofAll, lease])

const deletePushes = (sql: Sql, pushes: readonly ClaimedPush[]): Promise<unknown> =>
  sql('delete from pushes where subscription_id = $1 and event_id = any($2::text[])', [
    pushes[0]?.id,
    pushes.map(({ eventId }) => eventId),
  ])

const deleteOldPushes = (sql: Sql): Promise<unknown> =>
  sql(`delete from pushes where created_at < clock_timestamp() - interval '1 hour'`)

/** A push that waits is due: it may be claimed, which only its lease says. */
export const PUSHES_DUE_SQL = 'select created_at from pushes order by created_at limit 1'

export const oldestPushSeconds = async (sql: Sql): Promise<number | null> =>
  (
    await sql<{ seconds: number }>(
      `select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from pushes
       order by created_at limit 1`,
    )
  )[0]?.seconds ?? null

interface Parts extends PushParts {
  readonly database: Database
  readonly lease: ProcessLease
  readonly unsubscribe: (gone: Pick<ClaimedPush, 'id' | 'ownerId' | 'mode'>) => Promise<unknown>
  readonly onFailure: (error: unknown) => void
}

const MOST = { all: 128, owner: 16 }

/** What one subscription gets together. */
interface Claimed {
  readonly ownerId: string
  readonly subscription: ClaimedPush
  readonly pushes: readonly ClaimedPush[]
}

/** Sends waiting pushes to browsers. Any number of processes may run it. */
export class PushSender {
  readonly #parts: Parts
  readonly #work: ClaimedWork<Claimed>
  #hasOld = false

  constructor(parts: Parts) {
    this.#parts = parts
    const { lease, onFailure } = parts
    this.#work = new ClaimedWork({
      lease,
      onFailure,
      claim: held => this.#claim(held),
      serve: claimed => this.#serve(claimed),
    })
  }

  readonly wake = (): void => this.#work.wake()

  /** Deletes old pushes, and finds those whose notice was lost. */
  readonly round = (): void => {
    this.#hasOld = true
    this.wake()
  }

  get hasClaims(): boolean {
    return this.#work.underWay.length > 0
  }

  stop(): Promise<void> {
    return this.#work.stop()
  }

  async #claim(held: string): Promise<Claimed[]> {
    const sql = sqlOn(this.#parts.database.pool)
    if (this.#hasOld) await deleteOldPushes(sql)
    this.#hasOld = false
    const { underWay } = this.#work
    const ofAll = MOST.all - underWay.length
    if (ofAll === 0) return []
    const busy = underWay.map(({ subscription }) => subscription.id)
    const room = { busy, busyOwners: this.#work.ownersWith(MOST.owner), ofOwner: MOST.owner, ofAll }
    const pushes = await claimPushes(sql, room, held)
    return [...Map.groupBy(pushes, ({ id }) => id).values()].flatMap(all => {
      const [subscription] = all
      return subscription ? { ownerId: subscription.ownerId, subscription, pushes: all } : []
    })
  }

  async #serve({ subscription, pushes }: Claimed): Promise<void> {
    const { database, systems, unsubscribe } = this.#parts
    const sql = sqlOn(database.pool)
    const keys = await vapidKeys(sql, systems.vault)
    const results = await Promise.all(pushes.map(push => this.#send(push, keys)))
    await deletePushes(sql, pushes)
    if (results.some(result => result?.gone)) await unsubscribe(subscription)
  }

  async #send(push: ClaimedPush, keys: VapidKeys): Promise<PushResult | undefined> {
    const { event, eventId, createdAt, data, ...receiver } = push
    const payload = pushPayload({ eventId, event, createdAt: createdAt.toISOString() }, data)
    const message = { payload, urgency: pushUrgency(event), topic: pushTopic(eventId) }
    return sendPush(this.#parts, keys, receiver, message).catch(error => {
      this.#parts.onFailure(error)
      return undefined
    })
  }
}
