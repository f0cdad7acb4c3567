import type { Row } from '../../../kernel/contract/sql.ts'
import { type Database, sqlOn } from '../../../kernel/database/prepared-sql.ts'
import { after, clock, minutes } from '../../../values/clock.ts'
import type { Sealed } from '../secrets.ts'

/** A subscription for which something is due. */
export interface DueLane extends Row {
  readonly id: string
  readonly ownerId: string
  readonly failing: boolean
}

/** Of as many subscriptions at once. */
export const LANES = 256

const DUE = `select id, owner_id as "ownerId", failing from due_webhooks(${LANES})`

export const dueLanes = ({ pool }: Database): Promise<DueLane[]> => sqlOn(pool)<DueLane>(DUE)

/** A delivery that is ours for a while, with all that sending it takes. */
export interface Claimed {
  readonly id: string
  readonly webhookId: string
  readonly claim: number
  /** It is ours until then, while this lease is held. */
  readonly until: Date
  readonly lease: string
  readonly eventId: string
  readonly event: string
  readonly body: string
  readonly requestId: string
  readonly url: string
  readonly sealed: Sealed
}

type Taken = Row & Omit<Claimed, 'url' | 'sealed' | 'until' | 'lease'>

/**
 * Longer than the answer to an attempt may take, with some time to wait for its turn. What a process had that has died
 * is free sooner, by its lease.
 */
const LEASE_MS = minutes(2)

/** What the server loses of this, when it is killed, is taken once more: the commit does not wait for the disk. */
const TAKE = `
with unhurried as materialized (select set_config('synchronous_commit', 'off', true))
select t.id, t.webhook_id as "webhookId", t.claim, t.event_id as "eventId", t.event, t.request_id as "requestId", t.body
from unhurried cross join lateral lease_deliveries($1::text[], $2::int[], '${LEASE_MS} ms', $3) t`

/** Where what is taken goes to, and with what it is signed: the same for all that goes to one. */
type Receiver = Row & Sealed & Pick<Claimed, 'url'>

const RECEIVERS = `
select id, url, secret, next_secret as "nextSecret", next_from as "nextFrom" from webhooks where id = any($1::text[])`

/** How many deliveries of a subscription are to be claimed. */
interface Wanted {
  readonly lane: { readonly id: string }
  readonly most: number
}

/** Takes them for a while. */
export async function take({ pool }: Database, shares: readonly Wanted[], lease: string): Promise<Claimed[]> {
  const [ids, counts] = [shares.map(({ lane }) => lane.id), shares.map(({ most }) => most)]
  // By our own clock, and from before the lease begins.
  const until = after(clock.real(), LEASE_MS)
  const sql = sqlOn(pool)
  const [receivers, rows] = await Promise.all([
    sql<Receiver>(RECEIVERS, [ids]),
    sql<Taken>(TAKE, [ids, counts, lease]),
  ])
  const byId = new Map(receivers.map(one => [one.id, one]))
  return rows.map(one => {
    const sealed = byId.get(one.webhookId) as Receiver
    return Object.assign(one, { until, lease, url: sealed.url, sealed })
  })
}
