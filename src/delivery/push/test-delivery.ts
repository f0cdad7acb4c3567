import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'
import type { pushApi } from './api.ts'
import { payloadOf, topicOf, urgencyOf } from './payload.ts'
import { type Letter, type Receiver, type Sent, sendPush } from './send.ts'
import { PushSubscription } from './subscription.ts'
import { type VapidKeys, vapidKeys } from './vapid.ts'

/** Plain, for it outlives a crash; what is sealed stays so. */
interface Reserved {
  readonly receiver: Receiver
  readonly keys: VapidKeys
  readonly letter: Letter
}

type Testing = ContextOf<typeof pushApi.test>

const LOST: Sent = {
  ...{ delivered: false, gone: false, status: null },
  message: 'What came of it was lost. Try again, with a new Idempotency-Key.',
}

async function keep(sent: Sent, { receiver }: Reserved, { em, emit, refuse }: Testing) {
  const { delivered, gone: dropped, status, message } = sent
  // Locked only where it goes: whoever is locked hears of nothing.
  const { id } = receiver
  const subscription = await (dropped ? lock(em, PushSubscription, id) : em.findOne(PushSubscription, { id }))
  if (!subscription) return refuse('subscription_not_found')
  const about = { subscriptionId: subscription.id, label: subscription.label }
  emit('push_subscription.tested', { ...about, delivered })
  if (dropped) {
    em.remove(subscription)
    emit('push_subscription.deleted', { ...about, reason: 'gone' })
  }
  return { subscriptionId: subscription.id, delivered, dropped, status, message }
}

/** Sends a push at once, and tells what came of it. */
export const trial: HandlerOf<typeof pushApi.test> = {
  async reserve({ params }, { em, sql, now, ports, refuse }) {
    const subscription = await em.findOne(PushSubscription, { id: params.id })
    if (!subscription) return refuse('subscription_not_found')
    const { id, endpoint, p256dh, auth } = subscription
    const event = 'push_subscription.tested'
    const told = { eventId: newId('test'), event, createdAt: now.toISOString() }
    const payload = payloadOf(told, { subscriptionId: id })
    const letter = { payload, urgency: urgencyOf(event), topic: topicOf(told.eventId) }
    return { receiver: { id, endpoint, p256dh, auth }, keys: await vapidKeys(sql, ports.vault), letter }
  },
  call: ({ receiver, keys, letter }: Reserved, { ports }) => sendPush(ports, keys, receiver, letter),
  record: keep,
  recover: (reserved: Reserved, context) => keep(LOST, reserved, context),
}
