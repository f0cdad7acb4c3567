import type { Row } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { after, clock, minutes } from '../../../values/clock.ts'
import type { SealedSecrets } from '../secrets.ts'

/** A subscription with due deliveries. */
export interface DueWebhook extends Row {
  readonly id: string
  readonly ownerId: string
  readonly failing: boolean
}

/** The most subscriptions that one round serves. */
export const MAX_DUE = 256

const DUE = `select id, owner_id as "ownerId", failing from due_webhooks(${MAX_DUE})`

export const dueWebhooks = ({ pool }: Database): Promise<DueWebhook[]> => sqlOn(pool)<DueWebhook>(DUE)

/** A delivery that this process has leased, with all that sending it needs. */
export interface Claimed {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  /** The delivery is ours until then, as long as the process holds its lease. */
  readonly until: Date
  readonly lease: string
  readonly eventId: string
  readonly event: string
  readonly body: string
  readonly requestId: string
  readonly url: string
  readonly sealed: SealedSecrets
}

type LeasedRow = Row & Omit<Claimed, 'url' | 'sealed' | 'until' | 'lease'>

/**
 * The time to wait for a place and to make an attempt. What a process has leased that dies is free sooner: its process
 * lease ends.
 */
const LEASE_MS = minutes(2)

/** Leases without waiting for the disk: a lease that is lost when the server is killed is simply taken again. */
const LEASE = `
with async_commit as materialized (select set_config('synchronous_commit', 'off', true))
select t.id, t.webhook_id as "webhookId", t.claim, t.event_id as "eventId", t.event, t.request_id as "requestId", t.body
from async_commit cross join lateral lease_deliveries($1::text[], $2::int[], '${LEASE_MS} ms', $3) t`

/** The URL and the secrets of a subscription, read once for all of its deliveries. */
type Receiver = Row & SealedSecrets & Pick<Claimed, 'url'>

const RECEIVERS = `
select id, url, secret, next_secret as "nextSecret", next_from as "nextFrom" from webhooks where id = any($1::text[])`

/** How many deliveries of a subscription to claim. */
interface Wanted {
  readonly queue: { readonly id: string }
  readonly max: number
}

/** Leases due deliveries to this process. */
export async function claimDeliveries(
  { pool }: Database,
  shares: readonly Wanted[],
  lease: string,
): Promise<Claimed[]> {
  const ids = shares.map(({ queue }) => queue.id)
  const counts = shares.map(({ max }) => max)
  // By our own clock and from before the database begins the lease: so it ends here no later than there.
  const until = after(clock.real(), LEASE_MS)
  const sql = sqlOn(pool)
  const [receivers, rows] = await Promise.all([
    sql<Receiver>(RECEIVERS, [ids]),
    sql<LeasedRow>(LEASE, [ids, counts, lease]),
  ])
  const byId = new Map(receivers.map(receiver => [receiver.id, receiver]))
  return rows.map(row => {
    const receiver = byId.get(row.webhookId) as Receiver
    return Object.assign(row, { until, lease, url: receiver.url, sealed: receiver })
  })
}
