import type { Tenant } from '../../kernel/contract/actor.ts'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Context, ReadContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { ACTED, bindHandlers, type HandlerOf, NOT_ACTED } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { definedOnly, FOR_UPDATE, halfOpenRangeCondition } from '../../kernel/database/entity.ts'
import { readCompleteFrom } from '../../kernel/journal/timeline.ts'
import { addMs, clock } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import { eventNameProblem } from '../events/index.ts'
import { deliveriesApi } from './deliveries-api.ts'
import {
  Delivery,
  type DeliveryStatus,
  deliveryStatus,
  deliveryStatusFilter,
  isDeliveryLeased,
  leftToRun,
  resetForReplay,
} from './delivery.ts'
import { retryScheduleOfPlan } from './dispatch/retry.ts'
import {
  deliveriesOfRequestCondition,
  deliveryIdRangeOfEvent,
  replayDeadLetters,
  replayDeliveries,
} from './replay.ts'
import { deliveryResponse, explainDelivery, isWebhookServed, tenantClockAheadMs } from './response.ts'
import { endPauses, findWebhook, planOf, retryReceiversNow } from './subscriptions.ts'
import { receiverHost, Webhook } from './webhook.ts'

/** An attempt that a deliverer or another worker makes is looked after again this much later. */
const ANSWERED_WITHIN_MS = 10_000

/** When the run makes the attempt: as it is due, once the receiver is not paused. Null while it is not the run's. */
function attemptOfRun({ attemptAt }: Delivery, { pausedUntil }: Webhook) {
  if (!attemptAt) return { at: null, isPaused: false }
  const isPaused = pausedUntil !== null && pausedUntil > attemptAt
  return { at: isPaused ? pausedUntil : attemptAt, isPaused }
}

/** What the run of a delivery reads. */
export async function deliveryRunStatus(id: string, context: ReadContext) {
  const { em, now, settings } = context
  const delivery = await em.findOne(Delivery, { id })
  if (!delivery) return undefined
  const webhook = await em.findOneOrFail(Webhook, { id: delivery.webhookId })
  const { event, attempts, tries } = delivery
  const closed = delivery.status !== 'pending' || !isWebhookServed(webhook)
  const isUnderWay = isDeliveryLeased(delivery)
  const { at, isPaused } = attemptOfRun(delivery, webhook)
  const aheadMs = tenantClockAheadMs({ now })
  const { maxAttempts } = retryScheduleOfPlan(await planOf(context), settings.webhookRetrySeconds)
  const receiver = receiverHost(webhook)
  const tried = attempts.map(
    ({ at, status: answer }, n) =>
      `Attempt ${n + 1} at ${formatMinute(new Date(at))}: ${answer === null ? 'no answer' : `answered ${answer}`}.`,
  )
  return {
    status: deliveryStatus(delivery),
    summary: [
      `${event} to ${receiver} (${webhook.id}) in ${webhook.mode} mode: ${explainDelivery(delivery, webhook, aheadMs)}`,
      ...tried,
    ].join(' '),
    closed,
    isUnderWay,
    isPaused,
    attempt: tries + 1,
    // The plan may have been changed to one with fewer attempts.
    maxAttempts: Math.max(maxAttempts, tries + 1),
    receiver,
    dueInMs: closed ? null : isUnderWay ? ANSWERED_WITHIN_MS : at && at.getTime() - clock.milliseconds(),
    deadline: at && formatMinute(addMs(at, aheadMs)),
    signals: closed || isUnderWay ? [] : ['retryNow'],
  }
}

/** Makes the next attempt due at once, on a person's request. */
const retry: HandlerOf<typeof deliveriesApi.retry> = async ({ params }, context) => {
  const delivery = await context.em.findOne(Delivery, { id: params.id }, FOR_UPDATE)
  if (!delivery) return context.refuse('delivery_not_found')
  if (delivery.status !== 'pending' || isDeliveryLeased(delivery)) return NOT_ACTED
  const now = clock.real()
  if (delivery.attemptAt) {
    Object.assign(delivery, leftToRun(now))
    await endPauses(context, [delivery.webhookId])
  } else {
    delivery.dueAt = now
    await retryReceiversNow(context, [delivery.webhookId])
  }
  return ACTED
}

/** The delivery of an attempt: the attempt's id begins with it, as in `delivery_…-2`. */
const deliveryIdOf = (attemptId: string): string => attemptId.replace(/-[\d.]+$/, '')

type Listing = Context<'unknown_event'>

async function deliveriesPage(
  filters: Filters,
  { em, now, page, service, refuse, tenant }: Listing,
  webhook?: Webhook,
) {
  const unknown = eventNameProblem('event', filters.event, service)
  if (unknown) return refuse('unknown_event', unknown)
  const deliveries = await page(Delivery, conditionOf(filters, tenant))
  const webhooks = webhook ? [webhook] : await webhooksOf(deliveries.data, em)
  const byId = new Map(webhooks.map(webhook => [webhook.id, webhook]))
  const data = deliveries.data.map(delivery =>
    deliveryResponse(delivery, byId.get(delivery.webhookId), { now }),
  )
  return { ...deliveries, data }
}

async function webhooksOf(deliveries: readonly Delivery[], em: EntityReader): Promise<Webhook[]> {
  const ids = [...new Set(deliveries.map(({ webhookId }) => webhookId))]
  return ids.length > 0 ? em.find(Webhook, { id: { $in: ids } }) : []
}

interface Filters {
  readonly webhookId?: string | undefined
  readonly event?: string | undefined
  readonly eventId?: string | undefined
  readonly requestId?: string | undefined
  readonly status?: DeliveryStatus | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

const conditionOf = ({ from, to, status, eventId, requestId, ...filters }: Filters, tenant: Tenant) => ({
  $and: [
    definedOnly({ ...filters, eventId, createdAt: halfOpenRangeCondition(from, to) }),
    definedOnly({ id: eventId && inRange(deliveryIdRangeOfEvent(eventId)) }),
    deliveriesOfRequestCondition(requestId, tenant),
    deliveryStatusFilter(status),
  ],
})

export const deliveryHandlers = bindHandlers(deliveriesApi, {
  async deliveries({ params, query: { limit: _limit, cursor: _cursor, ...filters } }, context) {
    const webhook = await findWebhook(context.em, params.id)
    if (!webhook) return context.refuse('webhook_not_found')
    return deliveriesPage({ ...filters, webhookId: params.id }, context, webhook)
  },

  async allDeliveries({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) {
    const [shown, completeFrom] = await Promise.all([
      deliveriesPage(filters, context),
      readCompleteFrom(context.sql, context.tenant),
    ])
    return shown instanceof Refusal ? shown : { ...shown, completeFrom }
  },

  async delivery({ params }, context) {
    const { em, refuse } = context
    const delivery = await em.findOne(Delivery, { id: deliveryIdOf(params.id) })
    if (!delivery) return refuse('delivery_not_found')
    const webhook = await em.findOne(Webhook, { id: delivery.webhookId })
    return deliveryResponse(delivery, webhook ?? undefined, context)
  },

  async replay({ params }, context) {
    const { em, emit, refuse } = context
    const delivery = await em.findOne(Delivery, { id: deliveryIdOf(params.id) }, FOR_UPDATE)
    if (!delivery) return refuse('delivery_not_found')
    const isSubscribed = await em.count(Webhook, { id: delivery.webhookId, deletedAt: null })
    if (!isSubscribed) return refuse('webhook_deleted')
    if (!resetForReplay(delivery, clock.real())) return refuse('delivery_under_way')
    const { id, webhookId } = delivery
    await retryReceiversNow(context, [webhookId])
    emit('webhook.replayed', { deliveryId: id, webhookId })
    const webhook = await em.findOne(Webhook, { id: webhookId })
    return deliveryResponse(delivery, webhook ?? undefined, context)
  },

  deadLetters: ({ query: { limit: _limit, cursor: _cursor, ...filters } }, context) =>
    deliveriesPage({ ...filters, status: 'dead' }, context),

  replayDeadLetters: ({ body }, context) => replayDeadLetters(body, context),
  replayDeliveries: ({ body }, context) => replayDeliveries(body, context),
  retry,
})
