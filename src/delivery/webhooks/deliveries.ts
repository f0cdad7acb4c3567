import type { Context } from '../../kernel/contract/context.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import type { PageOf } from '../../kernel/contract/page.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { given, lock, within } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { misnamedOne } from '../events/index.ts'
import { deliveriesApi } from './deliveries-api.ts'
import { Delivery, replay, type ShownState, shownAs } from './delivery.ts'
import { type DeliveryRow, deliveryColumns, writeReplays } from './delivery-rows.ts'
import { shownDelivery } from './response.ts'
import { retry, status } from './steps.ts'
import { findWebhook, probe } from './subscriptions.ts'
import { Webhook } from './webhook.ts'

/** What an attempt is called begins with its delivery: `delivery_…-2`. */
const idOf = (name: string): string => name.replace(/-[\d.]+$/, '')

type Listing = Pick<Context<'unknown_event'>, 'em' | 'now' | 'page' | 'ports' | 'refuse'>

/** A page of those that match; refused where they are to be of an event that there is not. */
async function listed(filters: Filters, { em, now, page, ports, refuse }: Listing) {
  const unknown = misnamedOne('event', filters.event, ports)
  return unknown
    ? refuse('unknown_event', unknown)
    : shownAll(await page(Delivery, matching(filters)), { em, now })
}

async function shownAll(found: PageOf<Delivery>, { em, now }: Pick<Context, 'em' | 'now'>) {
  const ids = [...new Set(found.data.map(({ webhookId }) => webhookId))]
  const webhooks = ids.length > 0 ? await em.find(Webhook, { id: { $in: ids } }) : []
  const byId = new Map(webhooks.map(webhook => [webhook.id, webhook]))
  return { ...found, data: found.data.map(one => shownDelivery(one, byId.get(one.webhookId), { now })) }
}

interface Filters {
  readonly webhookId?: string | undefined
  readonly event?: string | undefined
  readonly status?: ShownState | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

const matching = ({ from, to, status, ...filters }: Filters) => ({
  $and: [given({ ...filters, createdAt: within(from, to) }), shownAs(status)],
})

const AT_ONCE = 1_000

/** Oldest first; one more than are replayed tells whether there are others. */
const DEAD = `
select ${deliveryColumns} from deliveries d
where d.owner_id = $1 and d.mode = $2 and d.status = 'dead' and ($3::text is null or d.webhook_id = $3)
  and ($4::text is null or d.event = $4) and ($5::timestamptz is null or d.created_at >= $5)
  and ($6::timestamptz is null or d.created_at < $6)
  and (select w.deleted_at is null from webhooks w where w.id = d.webhook_id)
order by d.id limit ${AT_ONCE + 1} for update`

async function replayDead(filters: Filters, context: ContextOf<typeof deliveriesApi.replayDeadLetters>) {
  const { em, sql, tenant, ports, emit, refuse } = context
  const unknown = misnamedOne('event', filters.event, ports)
  if (unknown) return refuse('unknown_event', unknown)
  if (filters.webhookId && !(await findWebhook(em, filters.webhookId))) return refuse('webhook_not_found')
  const { webhookId = null, event = null, from = null, to = null } = filters
  const values = [tenant.ownerId, tenant.mode, webhookId, event, from, to]
  const found = await sql<DeliveryRow & Row>(DEAD, values)
  const now = clock.real()
  const replayed = found.slice(0, AT_ONCE)
  for (const one of replayed) replay(Object.assign(one, { updatedAt: now }), now)
  await writeReplays(sql, replayed)
  await probe(
    context,
    replayed.map(one => one.webhookId),
  )
  emit('webhook.dead_letters_replayed', { ownerId: tenant.ownerId, webhookId, count: replayed.length })
  return { replayed: replayed.length, more: found.length > AT_ONCE }
}

export const deliveries = implement(deliveriesApi, {
  async deliveries({ params, query: { limit: _limit, cursor: _cursor, ...filters } }, context) {
    if (!(await findWebhook(context.em, params.id))) return context.refuse('webhook_not_found')
    return listed({ ...filters, webhookId: params.id }, context)
  },

  allDeliveries: ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    listed(filters, context),

  async delivery({ params }, context) {
    const { em, refuse } = context
    const delivery = await em.findOne(Delivery, { id: idOf(params.id) })
    if (!delivery) return refuse('delivery_not_found')
    const webhook = await em.findOne(Webhook, { id: delivery.webhookId })
    return shownDelivery(delivery, webhook ?? undefined, context)
  },

  async replay({ params }, context) {
    const { em, emit, refuse } = context
    const delivery = await lock(em, Delivery, idOf(params.id))
    if (!delivery) return refuse('delivery_not_found')
    const isThere = await em.count(Webhook, { id: delivery.webhookId, deletedAt: null })
    if (!isThere) return refuse('webhook_deleted')
    if (!replay(delivery, clock.real())) return refuse('delivery_under_way')
    const { id, webhookId } = delivery
    await probe(context, [webhookId])
    emit('webhook.replayed', { deliveryId: id, webhookId })
    const webhook = await em.findOne(Webhook, { id: webhookId })
    return shownDelivery(delivery, webhook ?? undefined, context)
  },

  deadLetters: ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    listed({ ...filters, status: 'dead' }, context),

  replayDeadLetters: ({ body }, context) => replayDead(body, context),
  status,
  retry,
})
