import type { Row } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { addMs, clock, minutes } from '../../../values/clock.ts'
import type { SealedWebhookSecrets } from '../secrets.ts'

export interface DueWebhook extends Row {
  readonly id: string
  readonly ownerId: string
  readonly failing: boolean
}

export const MAX_DUE_WEBHOOKS = 256

const DUE = `select id, owner_id as "ownerId", failing from due_webhooks(${MAX_DUE_WEBHOOKS})`

export const findDueWebhooks = ({ pool }: Database): Promise<DueWebhook[]> => sqlOn(pool)<DueWebhook>(DUE)

/** An attempt that a run makes just now. */
export interface RetryUnderWay extends Row {
  readonly webhookId: string
  readonly ownerId: string
}

const RETRIES =
  'select webhook_id as "webhookId", owner_id as "ownerId" from retries_under_way where ends_by > clock_timestamp()'

export const findRetriesUnderWay = ({ pool }: Database): Promise<RetryUnderWay[]> =>
  sqlOn(pool)<RetryUnderWay>(RETRIES)

export interface ClaimedDelivery {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  /** The delivery is leased until then, as long as the process holds its own lease. */
  readonly until: Date
  readonly lease: string
  readonly eventId: string
  readonly event: string
  readonly body: string
  readonly requestId: string
  /** Set after the claim, if anything is traced. */
  traceparent?: string | undefined
  readonly url: string
  readonly sealed: SealedWebhookSecrets
  /** What was read of the journal with it, until it is stored; null for a delivery that was stored before. */
  readonly range: EventRange | null
  /** Set for a new delivery to a receiver that is free: only the service delays its first attempt. */
  isUndelayed?: boolean
}

/** Deliveries of events that were read together. None has a row when it is claimed. */
export interface EventRange {
  readonly id: bigint
  readonly readAt: number
  readonly unstored: Map<string, NewDelivery>
}

export interface NewDelivery extends ClaimedDelivery {
  readonly ownerId: string
  readonly range: EventRange
}

type LeasedRow = Row & Omit<ClaimedDelivery, 'url' | 'sealed' | 'until' | 'lease' | 'range'>

/**
 * Enough to wait for a slot and to make an attempt. A dead process's deliveries are free sooner, when its
 * process lease ends.
 */
export const LEASE_MS = minutes(2)

/** Leases without waiting for the disk: if the server is killed, a lost lease is simply taken again. */
const LEASE = `
with async_commit as materialized (select set_config('synchronous_commit', 'off', true))
select t.id, t.webhook_id as "webhookId", t.claim, t.event_id as "eventId", t.event, t.request_id as "requestId", t.body
from async_commit cross join lateral lease_deliveries($1::text[], $2::int[], '${LEASE_MS} ms', $3) t`

/** The URL and the secrets of a subscription, read once for all of its deliveries. */
export type Receiver = Row & SealedWebhookSecrets & Pick<ClaimedDelivery, 'url'> & Pick<DueWebhook, 'ownerId'>

export const RECEIVERS = `
select id, owner_id as "ownerId", url, secret, next_secret as "nextSecret", next_from as "nextFrom" from webhooks where id = any($1::text[])`

interface DeliveryRequest {
  readonly queue: { readonly id: string }
  readonly max: number
}

export async function claimDeliveries(
  { pool }: Database,
  shares: readonly DeliveryRequest[],
  lease: string,
): Promise<ClaimedDelivery[]> {
  const ids = shares.map(({ queue }) => queue.id)
  const counts = shares.map(({ max }) => max)
  // By our own clock and before the database begins the lease, so that it never ends later here than there.
  const until = addMs(clock.real(), LEASE_MS)
  const sql = sqlOn(pool)
  const [receivers, rows] = await Promise.all([
    sql<Receiver>(RECEIVERS, [ids]),
    sql<LeasedRow>(LEASE, [ids, counts, lease]),
  ])
  const byId = new Map(receivers.map(receiver => [receiver.id, receiver]))
  return rows.map(row => {
    const receiver = byId.get(row.webhookId) as Receiver
    return Object.assign(row, { until, lease, url: receiver.url, sealed: receiver, range: null })
  })
}
