import type { Context } from '../../kernel/contract/context.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { definedOnly, halfOpenRange } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { eventNameProblem } from '../events/index.ts'
import { deliveriesApi } from './deliveries-api.ts'
import { Delivery, type DeliveryStatus, resetForReplay, statusFilter } from './delivery.ts'
import { type DeliveryRow, deliveryColumns, writeReplays } from './delivery-rows.ts'
import { deliveryResponse } from './response.ts'
import { retry, status } from './steps.ts'
import { findWebhook, tryReceiversNow } from './subscriptions.ts'
import { Webhook } from './webhook.ts'

/** The delivery of an attempt: the attempt's id begins with it, as in `delivery_…-2`. */
const deliveryIdOf = (attemptId: string): string => attemptId.replace(/-[\d.]+$/, '')

type Listing = Pick<Context<'unknown_event'>, 'records' | 'now' | 'page' | 'ports' | 'refuse'>

/**
 * A page of the deliveries that match, all of this subscription if one is given; refused if the filter names an event that
 * does not exist.
 */
async function deliveriesPage(
  filters: Filters,
  { records, now, page, ports, refuse }: Listing,
  webhook?: Webhook,
) {
  const unknown = eventNameProblem('event', filters.event, ports)
  if (unknown) return refuse('unknown_event', unknown)
  const deliveries = await page(Delivery, conditionOf(filters))
  const webhooks = webhook ? [webhook] : await webhooksOf(deliveries.data, records)
  const byId = new Map(webhooks.map(webhook => [webhook.id, webhook]))
  const data = deliveries.data.map(delivery =>
    deliveryResponse(delivery, byId.get(delivery.webhookId), { now }),
  )
  return { ...deliveries, data }
}

async function webhooksOf(deliveries: readonly Delivery[], records: Records): Promise<Webhook[]> {
  const ids = [...new Set(deliveries.map(({ webhookId }) => webhookId))]
  return ids.length > 0 ? records.find(Webhook, { id: { $in: ids } }) : []
}

interface Filters {
  readonly webhookId?: string | undefined
  readonly event?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

const conditionOf = ({ from, to, status, ...filters }: Filters) => ({
  $and: [definedOnly({ ...filters, createdAt: halfOpenRange(from, to) }), statusFilter(status)],
})

const MAX_REPLAYED = 1_000

/** Finds dead letters, oldest first, and one more than are replayed: it tells whether there are others. */
const FIND_DEAD = `
select ${deliveryColumns} from deliveries d
where d.owner_id = $1 and d.mode = $2 and d.status = 'dead' and ($3::text is null or d.webhook_id = $3)
  and ($4::text is null or d.event = $4) and ($5::timestamptz is null or d.created_at >= $5)
  and ($6::timestamptz is null or d.created_at < $6)
  and (select w.deleted_at is null from webhooks w where (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id))
order by d.id limit ${MAX_REPLAYED + 1} for update`

async function replayDead(filters: Filters, context: ContextOf<typeof deliveriesApi.replayDeadLetters>) {
  const { records, sql, tenant, ports, emit, refuse } = context
  const unknown = eventNameProblem('event', filters.event, ports)
  if (unknown) return refuse('unknown_event', unknown)
  if (filters.webhookId && !(await findWebhook(records, filters.webhookId)))
    return refuse('webhook_not_found')
  const { webhookId = null, event = null, from = null, to = null } = filters
  const values = [tenant.ownerId, tenant.mode, webhookId, event, from, to]
  const deadLetters = await sql<DeliveryRow & Row>(FIND_DEAD, values)
  const now = clock.real()
  const replayed = deadLetters.slice(0, MAX_REPLAYED)
  for (const delivery of replayed) resetForReplay(Object.assign(delivery, { updatedAt: now }), now)
  await writeReplays(sql, replayed)
  await tryReceiversNow(
    context,
    replayed.map(delivery => delivery.webhookId),
  )
  emit('webhook.dead_letters_replayed', { ownerId: tenant.ownerId, webhookId, count: replayed.length })
  return { replayed: replayed.length, more: deadLetters.length > MAX_REPLAYED }
}

export const deliveries = implement(deliveriesApi, {
  async deliveries({ params, query: { limit: _limit, cursor: _cursor, ...filters } }, context) {
    const webhook = await findWebhook(context.records, params.id)
    if (!webhook) return context.refuse('webhook_not_found')
    return deliveriesPage({ ...filters, webhookId: params.id }, context, webhook)
  },

  allDeliveries: ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    deliveriesPage(filters, context),

  async delivery({ params }, context) {
    const { records, refuse } = context
    const delivery = await records.findOne(Delivery, { id: deliveryIdOf(params.id) })
    if (!delivery) return refuse('delivery_not_found')
    const webhook = await records.findOne(Webhook, { id: delivery.webhookId })
    return deliveryResponse(delivery, webhook ?? undefined, context)
  },

  async replay({ params }, context) {
    const { records, emit, refuse } = context
    const delivery = await records.lock(Delivery, deliveryIdOf(params.id))
    if (!delivery) return refuse('delivery_not_found')
    const isSubscribed = await records.count(Webhook, { id: delivery.webhookId, deletedAt: null })
    if (!isSubscribed) return refuse('webhook_deleted')
    if (!resetForReplay(delivery, clock.real())) return refuse('delivery_under_way')
    const { id, webhookId } = delivery
    await tryReceiversNow(context, [webhookId])
    emit('webhook.replayed', { deliveryId: id, webhookId })
    const webhook = await records.findOne(Webhook, { id: webhookId })
    return deliveryResponse(delivery, webhook ?? undefined, context)
  },

  deadLetters: ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    deliveriesPage({ ...filters, status: 'dead' }, context),

  replayDeadLetters: ({ body }, context) => replayDead(body, context),
  status,
  retry,
})
