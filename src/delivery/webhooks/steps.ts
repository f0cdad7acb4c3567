import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import type { deliveriesApi } from './deliveries-api.ts'
import { Delivery, deliveryStatus, isLeased } from './delivery.ts'
import { aheadOf, explain, isServed } from './response.ts'
import { notifyDeliverers, tryReceiversNow } from './subscriptions.ts'
import { Webhook } from './webhook.ts'

/** Whoever delivers has been told by then; what it is late for its own poll finds. */
const TOLD_WITHIN_MS = 5_000

/** How long until the process has something to do; null where it waits to be told. */
function dueIn(delivery: Delivery, { pausedUntil }: Webhook): number | null {
  const { dueAt } = delivery
  if (isLeased(delivery) || !dueAt) return null
  const at = Math.max(dueAt.getTime(), pausedUntil?.getTime() ?? 0)
  const ms = at - clock.milliseconds()
  return ms < -TOLD_WITHIN_MS ? null : ms
}

export const look: HandlerOf<typeof deliveriesApi.look> = async ({ params }, { em, now, refuse }) => {
  const delivery = await em.findOne(Delivery, { id: params.id })
  if (!delivery) return refuse('delivery_not_found')
  const webhook = await em.findOneOrFail(Webhook, { id: delivery.webhookId })
  const { status, event, attempts } = delivery
  const tried = attempts.map(({ at, status: answer }, n) => `${n + 1}: ${at} ${answer ?? 'no answer'}`)
  return {
    status: deliveryStatus(delivery),
    summary: [
      `${event} to ${webhook.id} in ${webhook.mode} mode: ${explain(delivery, webhook, aheadOf({ now }))}`,
      ...tried,
    ].join('; '),
    closed: status !== 'pending' || !isServed(webhook),
    dueInMs: dueIn(delivery, webhook),
  }
}

/**
 * Whoever delivers makes the attempt: once it is due, and the receiver is not left alone; for somebody who asks for it,
 * at once.
 */
export const retry: HandlerOf<typeof deliveriesApi.retry> = async ({ params, body }, { em, sql, refuse }) => {
  const delivery = await lock(em, Delivery, params.id)
  if (!delivery) return refuse('delivery_not_found')
  if (delivery.status !== 'pending' || isLeased(delivery)) return { acted: false }
  if (!body.asked) {
    await notifyDeliverers({ sql })
    return { acted: true }
  }
  const now = clock.real()
  if (delivery.dueAt && delivery.dueAt > now) delivery.dueAt = now
  await tryReceiversNow({ sql }, [delivery.webhookId])
  return { acted: true }
}
