import type { Row, Sql } from '../../../kernel/contract/sql.ts'
import type { Tracing } from '../../../ports/tracing.ts'
import type { ClaimedDelivery } from './claim.ts'

const TRACEPARENTS = `
select d.event_id as "eventId", e.traceparent
from unnest($1::text[], $2::text[]) as d(webhook_id, event_id)
cross join lateral (select owner_id, mode from webhooks one where one.id = d.webhook_id limit 1) w
cross join lateral (
  select traceparent from events one where (one.owner_id, one.mode, one.id) = (w.owner_id, w.mode, d.event_id) limit 1) e
where e.traceparent is not null`

type Found = Row & Pick<ClaimedDelivery, 'eventId'> & { readonly traceparent: string }

/**
 * Each delivery with the span that emitted its event. Read apart, so that it costs nothing without tracing, and a failure
 * costs no delivery.
 */
export async function withTraceparents<D extends ClaimedDelivery>(
  sql: Sql,
  tracing: Tracing | null,
  deliveries: readonly D[],
): Promise<readonly D[]> {
  if (!tracing || deliveries.length === 0) return deliveries
  const webhookIds = deliveries.map(({ webhookId }) => webhookId)
  const eventIds = deliveries.map(({ eventId }) => eventId)
  const found = await sql<Found>(TRACEPARENTS, [webhookIds, eventIds]).catch(() => [])
  const byEvent = new Map(found.map(({ eventId, traceparent }) => [eventId, traceparent]))
  for (const delivery of deliveries) delivery.traceparent = byEvent.get(delivery.eventId)
  return deliveries
}

/** Makes the attempt in a span below the operation that emitted the event. */
export function inSpanOfDelivery<T>(
  tracing: Tracing | null,
  { traceparent, event, eventId, webhookId }: ClaimedDelivery,
  attempt: () => Promise<T>,
): Promise<T> {
  if (!tracing || traceparent === undefined) return attempt()
  const start = {
    name: `webhook ${event}`,
    kind: 'producer',
    parent: traceparent,
    attributes: { 'agentpay.event': event, 'agentpay.event_id': eventId, 'agentpay.webhook_id': webhookId },
  } as const
  return tracing.span(start, attempt)
}
