import { clock } from '../../kernel/clock.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { lock } from '../../kernel/record.ts'
import type { deliveriesApi } from './deliveries-api.ts'
import { Delivery, isLeased, shownState } from './delivery.ts'
import { explain } from './shown.ts'
import { probe } from './subscriptions.ts'
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

export const look: HandlerOf<typeof deliveriesApi.look> = async ({ params }, { em, refuse }) => {
  const delivery = await em.findOne(Delivery, { id: params.id })
  if (!delivery) return refuse('delivery_not_found')
  const webhook = await em.findOneOrFail(Webhook, { id: delivery.webhookId })
  const { status, event, attempts } = delivery
  const isServed = webhook.status === 'active' && !webhook.deletedAt
  const tried = attempts.map(({ at, status: answer }, n) => `${n + 1}: ${at} ${answer ?? 'no answer'}`)
  return {
    status: shownState(delivery),
    summary: [`${event} to ${new URL(webhook.url).host}: ${explain(delivery, webhook)}`, ...tried].join('; '),
    closed: status !== 'pending' || !isServed,
    dueInMs: dueIn(delivery, webhook),
  }
}

/** Due now: it is for whoever delivers to make the attempt. */
export const retry: HandlerOf<typeof deliveriesApi.retry> = async ({ params }, { em, sql, refuse }) => {
  const delivery = await lock(em, Delivery, params.id)
  if (!delivery) return refuse('delivery_not_found')
  const acted = delivery.status === 'pending' && !isLeased(delivery)
  const now = clock.real()
  if (acted && delivery.dueAt && delivery.dueAt > now) delivery.dueAt = now
  if (acted) await probe({ sql }, [delivery.webhookId])
  return { acted }
}
