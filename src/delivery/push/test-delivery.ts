import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { newId } from '../../values/ids.ts'
import type { pushApi } from './api.ts'
import { payloadOf, topicOf, urgencyOf } from './payload.ts'
import { type Message, type PushResult, type Receiver, sendPush } from './send.ts'
import { isForeign, PushSubscription } from './subscription.ts'
import { type VapidKeys, vapidKeys } from './vapid.ts'

/** What is about to be sent. It is stored, to outlive a crash: so it is plain data with sealed secrets, and names stay. */
interface Reserved {
  readonly receiver: Receiver
  readonly keys: VapidKeys
  readonly letter: Message
}

type TestContext = ContextOf<typeof pushApi.test>

const LOST: PushResult = {
  delivered: false,
  gone: false,
  status: null,
  message: 'What came of it was lost. Try again, with a new Idempotency-Key.',
}

async function recordTest(
  result: PushResult,
  { receiver }: Reserved,
  { records, emit, refuse }: TestContext,
) {
  const { delivered, gone: dropped, status, message } = result
  // Locked only to be deleted: a locked subscription gets no push of the event that is emitted here.
  const { id } = receiver
  const subscription = await (dropped
    ? records.lock(PushSubscription, id)
    : records.findOne(PushSubscription, { id }))
  if (!subscription) return refuse('subscription_not_found')
  const event = { subscriptionId: subscription.id, label: subscription.label }
  emit('push_subscription.tested', { ...event, delivered })
  if (dropped) {
    records.remove(subscription)
    emit('push_subscription.deleted', { ...event, reason: 'gone' })
  }
  return { subscriptionId: subscription.id, delivered, dropped, status, message }
}

/** Sends a push at once and answers how the push service took it. */
export const testDelivery: HandlerOf<typeof pushApi.test> = {
  async reserve({ params }, { records, sql, now, ports, actor, refuse }) {
    const subscription = await records.findOne(PushSubscription, { id: params.id })
    if (!subscription) return refuse('subscription_not_found')
    if (isForeign(subscription, actor)) return refuse('not_yours')
    const { id, endpoint, p256dh, auth } = subscription
    const event = 'push_subscription.tested'
    const head = { eventId: newId('test'), event, createdAt: now.toISOString() }
    const payload = payloadOf(head, { subscriptionId: id })
    const message = { payload, urgency: urgencyOf(event), topic: topicOf(head.eventId) }
    const keys = await vapidKeys(sql, ports.vault)
    return { receiver: { id, endpoint, p256dh, auth }, keys, letter: message }
  },
  call: ({ receiver, keys, letter }: Reserved, { ports }) => sendPush(ports, keys, receiver, letter),
  record: recordTest,
  recover: (reserved: Reserved, context) => recordTest(LOST, reserved, context),
}
