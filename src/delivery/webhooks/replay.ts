import type { Tenant } from '../../kernel/contract/actor.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { withinCallSql } from '../../kernel/journal/call-events.ts'
import { Event } from '../../kernel/journal/event.ts'
import { clock } from '../../values/clock.ts'
import { eventNameProblem } from '../events/index.ts'
import type { deliveriesApi } from './deliveries-api.ts'
import { type DeliveryRow, deliveryColumns, resetForReplay, writeDeliveryReplays } from './delivery.ts'
import { findWebhook, retryReceiversNow } from './subscriptions.ts'

const MAX_REPLAYED = 1_000

/** The filters besides the status; `$1` and `$2` are owner and mode. */
const MATCHES = `
d.owner_id = $1 and d.mode = $2 and ($3::text is null or d.webhook_id = $3) and ($4::text is null or d.event = $4)
  and ($5::timestamptz is null or d.created_at >= $5) and ($6::timestamptz is null or d.created_at < $6)`

const IS_SUBSCRIBED =
  '(select w.deleted_at is null from webhooks w where (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id))'

/** Finds dead letters, oldest first, plus one beyond the limit to detect others. */
const FIND_DEAD = `
select ${deliveryColumns} from deliveries d where d.status = 'dead' and ${MATCHES} and ${IS_SUBSCRIBED}
order by d.id limit ${MAX_REPLAYED + 1} for update`

/** Finds ended deliveries after an id, of an event or a request; the oldest of each subscription. */
const FIND_ENDED = `
select ${deliveryColumns} from deliveries d where d.id = any(array(
  select found.id from webhooks w cross join lateral (
    select d.id from deliveries d
    where d.webhook_id = w.id and d.status = any($7::text[]) and ${MATCHES}
      and ($8::text is null or d.id > $8) and ($9::text is null or d.event_id = $9)
      and ($10::text is null or d.id >= $10) and ($11::text is null or d.id < $11)
      and ($12::text is null or exists (
        select from events e where (e.owner_id, e.mode, e.id) = ($1, $2, d.event_id) and e.request_id = $12))
    order by d.id limit ${MAX_REPLAYED + 1}
  ) found
  where w.owner_id = $1 and w.mode = $2 and w.deleted_at is null and ($3::text is null or w.id = $3)
  order by found.id limit ${MAX_REPLAYED + 1}
)) and d.owner_id = $1 and d.mode = $2 and d.status = any($7::text[])
order by d.id for update`

type Replaying =
  | ContextOf<typeof deliveriesApi.replayDeadLetters>
  | ContextOf<typeof deliveriesApi.replayDeliveries>

interface Matching {
  readonly webhookId?: string | undefined
  readonly event?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

async function wrongFilter({ webhookId, event }: Matching, { em, service, refuse }: Replaying) {
  const unknown = eventNameProblem('event', event, service)
  if (unknown) return refuse('unknown_event', unknown)
  if (webhookId && !(await findWebhook(em, webhookId))) return refuse('webhook_not_found')
  return undefined
}

const valuesOf = ({ webhookId, event, from, to }: Matching) => [
  webhookId ?? null,
  event ?? null,
  from ?? null,
  to ?? null,
]

/** Makes deliveries due now, except the last one beyond the limit. */
async function replayAll(found: (DeliveryRow & Row)[], context: Replaying) {
  const now = clock.real()
  const looked = found.slice(0, MAX_REPLAYED)
  const replayed = looked.filter(delivery => resetForReplay(Object.assign(delivery, { updatedAt: now }), now))
  await writeDeliveryReplays(context.sql, replayed)
  await retryReceiversNow(
    context,
    replayed.map(({ webhookId }) => webhookId),
  )
  return { count: replayed.length, more: found.length > MAX_REPLAYED, last: looked.at(-1)?.id ?? null }
}

export async function replayDeadLetters(
  body: Matching,
  context: ContextOf<typeof deliveriesApi.replayDeadLetters>,
) {
  const wrong = await wrongFilter(body, context)
  if (wrong) return wrong
  const { sql, tenant, emit } = context
  const found = await sql<DeliveryRow & Row>(FIND_DEAD, [tenant.ownerId, tenant.mode, ...valuesOf(body)])
  const { count, more } = await replayAll(found, context)
  emit('webhook.dead_letters_replayed', {
    ownerId: tenant.ownerId,
    webhookId: body.webhookId ?? null,
    count,
  })
  return { replayed: count, more }
}

interface MatchingEnded extends Matching {
  readonly status?: string | undefined
  readonly eventId?: string | undefined
  readonly requestId?: string | undefined
  readonly after?: string | undefined
}

export async function replayDeliveries(
  body: MatchingEnded,
  context: ContextOf<typeof deliveriesApi.replayDeliveries>,
) {
  const wrong = await wrongFilter(body, context)
  if (wrong) return wrong
  const { sql, tenant, emit } = context
  const { status, eventId, requestId, after, webhookId } = body
  if (eventId && !(await context.em.findOne(Event, { id: eventId }))) return context.refuse('event_not_found')
  const range = eventId ? deliveryIdRangeOfEvent(eventId) : { gte: null, lt: null }
  const found = await findEnded(sql, [
    ...[tenant.ownerId, tenant.mode, ...valuesOf(body), status ? [status] : ['failed', 'dead']],
    ...[after ?? null, eventId ?? null, range.gte, range.lt, requestId ?? null],
  ])
  const { count, more, last } = await replayAll(found, context)
  emit('webhook.deliveries_replayed', { ownerId: tenant.ownerId, webhookId: webhookId ?? null, count })
  return { replayed: count, more, last }
}

/** Looks again after it has waited for a concurrent replay: what that one takes makes room for those behind. */
async function findEnded(sql: Sql, values: readonly unknown[], before = -1): Promise<(DeliveryRow & Row)[]> {
  const found = await sql<DeliveryRow & Row>(FIND_ENDED, values)
  return found.length > MAX_REPLAYED || found.length === before ? found : findEnded(sql, values, found.length)
}

/** The time part of an event's id, with which the ids of its deliveries begin. */
const BEGINNING = { from: 'event_'.length, to: 'event_'.length + 10 } as const

export function deliveryIdRangeOfEvent(eventId: string): { gte: string; lt: string } {
  const first = `delivery_${eventId.slice(BEGINNING.from, BEGINNING.to)}`
  return { gte: first, lt: `${first}~` }
}

/**
 * The deliveries of a request's events, each found by the primary key. The first event of a call leads to its others.
 * `?` are owner, mode and request.
 */
const OF_REQUEST = `
id = any(array(
  select d.id from (
    select one.owner_id, one.mode, one.id from (
      select owner_id, mode, id as first_id from events
      where owner_id = ? and mode = ? and request_id = ? and not same_request order by id desc limit 1000
    ) first cross join lateral (
      select * from events
      where owner_id = first.owner_id and mode = first.mode and ${withinCallSql('id', 'first_id')}
        and (id = first_id or same_request) offset 0
    ) one order by one.id desc limit 1000
  ) e
  cross join lateral (
    select one.id from deliveries one
    where one.owner_id = e.owner_id and one.mode = e.mode and one.event_id = e.id
      and one.id >= 'delivery_' || substr(e.id, 7, 10) and one.id < 'delivery_' || substr(e.id, 7, 10) || '~'
  ) d
))`

export const deliveriesOfRequestCondition = (requestId: string | undefined, { ownerId, mode }: Tenant) =>
  requestId === undefined ? {} : sqlCondition(OF_REQUEST, [ownerId, mode, requestId])
