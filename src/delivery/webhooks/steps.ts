import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { after, clock, minuteInWords } from '../../values/clock.ts'
import type { deliveriesApi } from './deliveries-api.ts'
import { Delivery, deliveryStatus, isLeased } from './delivery.ts'
import { webhookSignals } from './process.ts'
import { aheadOf, explain, isServed } from './response.ts'
import { notifyDeliverers, tryReceiversNow } from './subscriptions.ts'
import { Webhook } from './webhook.ts'

/** Deliverers are notified within this time; a delivery that is overdue for longer is found by their poll. */
const NOTIFIED_WITHIN_MS = 5_000

/** How long until the process has something to do; null if it waits to be woken. */
function dueIn(delivery: Delivery, { pausedUntil }: Webhook): number | null {
  const { dueAt } = delivery
  if (isLeased(delivery) || !dueAt) return null
  const at = Math.max(dueAt.getTime(), pausedUntil?.getTime() ?? 0)
  const ms = at - clock.milliseconds()
  return ms < -NOTIFIED_WITHIN_MS ? null : ms
}

/** Completes "it waits" for the operator. */
function waitsFor(delivery: Delivery, { pausedUntil }: Webhook, aheadMs: number): string {
  const { dueAt, tries } = delivery
  if (isLeased(delivery)) return 'for the receiver’s answer'
  const attempt = `for attempt ${tries + 1}`
  if (!dueAt) return attempt
  const isLeftAlone = pausedUntil !== null && pausedUntil > dueAt
  const at = minuteInWords(after(isLeftAlone ? pausedUntil : dueAt, aheadMs))
  return isLeftAlone
    ? `${attempt}: the receiver keeps failing and is left alone until ${at}`
    : `${attempt}, at ${at}`
}

export const status: HandlerOf<typeof deliveriesApi.status> = async (
  { params },
  { records, now, refuse },
) => {
  const delivery = await records.findOne(Delivery, { id: params.id })
  if (!delivery) return refuse('delivery_not_found')
  const webhook = await records.findOneOrFail(Webhook, { id: delivery.webhookId })
  const { event, attempts } = delivery
  const closed = delivery.status !== 'pending' || !isServed(webhook)
  const tried = attempts.map(({ at, status: answer }, n) => `${n + 1}: ${at} ${answer ?? 'no answer'}`)
  return {
    status: deliveryStatus(delivery),
    summary: [
      `${event} to ${webhook.id} in ${webhook.mode} mode: ${explain(delivery, webhook, aheadOf({ now }))}`,
      ...tried,
    ].join('; '),
    closed,
    dueInMs: dueIn(delivery, webhook),
    waitsFor: closed ? null : waitsFor(delivery, webhook, aheadOf({ now })),
    signals: closed || isLeased(delivery) ? [] : Object.keys(webhookSignals),
  }
}

/** Has a deliverer make the attempt: when it is due and the receiver is not paused, or at once if a person asks. */
export const retry: HandlerOf<typeof deliveriesApi.retry> = async (
  { params, body },
  { records, sql, tenant, refuse },
) => {
  const delivery = await records.lock(Delivery, params.id)
  if (!delivery) return refuse('delivery_not_found')
  if (delivery.status !== 'pending' || isLeased(delivery)) return { acted: false }
  if (!body.asked) {
    await notifyDeliverers({ sql })
    return { acted: true }
  }
  const now = clock.real()
  if (delivery.dueAt && delivery.dueAt > now) delivery.dueAt = now
  await tryReceiversNow({ sql, tenant }, [delivery.webhookId])
  return { acted: true }
}
