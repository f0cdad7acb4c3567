import { personEvents } from '../../identity/people/index.ts'
import { personOf } from '../../kernel/contract/actor.ts'
import { area, reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import {
  ACTED,
  bindHandlers,
  type ContextOf,
  externalCall,
  NOT_ACTED,
} from '../../kernel/contract/operation.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { newId } from '../../values/ids.ts'
import { eventNamesProblem } from '../events/index.ts'
import { PushSubscriptionDeletedEvent, pushApi } from './api.ts'
import {
  type PushMessage,
  type PushReceiver,
  type PushResult,
  pushPayload,
  pushTopic,
  pushUrgency,
  sendPush,
  type VapidKeys,
  vapidKeys,
} from './send.ts'
import {
  isOthersPushSubscription,
  PushSubscription,
  pushPersonalData,
  pushSecretContext,
  urgentPushEvents,
} from './subscription.ts'

/**
 * The reserved push. It is stored to survive a crash: plain data with sealed secrets, whose member names
 * cannot change.
 */
interface Reserved {
  readonly receiver: PushReceiver
  readonly keys: VapidKeys
  readonly letter: PushMessage
}

type TestContext = ContextOf<typeof pushApi.test>

const subscriptionEvent = ({ id, label, personId }: PushSubscription) => ({
  subscriptionId: id,
  label,
  personId,
})

const LOST: PushResult = {
  delivered: false,
  gone: false,
  status: null,
  message: 'The outcome was lost. Try again with a new Idempotency-Key.',
}

async function recordTest(result: PushResult, { receiver }: Reserved, { em, emit, refuse }: TestContext) {
  const { delivered, gone: dropped, status, message } = result
  const subscription = await em.findOne(PushSubscription, { id: receiver.id }, FOR_UPDATE)
  if (!subscription) return refuse('subscription_not_found')
  const event = subscriptionEvent(subscription)
  emit('push_subscription.tested', { ...event, delivered })
  if (dropped) {
    em.remove(subscription)
    emit('push_subscription.deleted', { ...event, reason: 'gone' })
  }
  return { subscriptionId: subscription.id, delivered, dropped, status, message }
}

const testDelivery = externalCall(pushApi.test, {
  async reserve({ params }, { em, sql, now, systems, actor, refuse }) {
    const subscription = await em.findOne(PushSubscription, { id: params.id })
    if (!subscription) return refuse('subscription_not_found')
    if (isOthersPushSubscription(subscription, actor)) return refuse('not_subscription_owner')
    const { id, endpoint, p256dh, auth } = subscription
    const event = 'push_subscription.tested'
    const head = { eventId: newId('test'), event, createdAt: now.toISOString() }
    const payload = pushPayload(head, { subscriptionId: id })
    const message = { payload, urgency: pushUrgency(event), topic: pushTopic(head.eventId) }
    const keys = await vapidKeys(sql, systems.vault)
    return { receiver: { id, endpoint, p256dh, auth }, keys, letter: message }
  },
  call: ({ receiver, keys, letter }, context) => sendPush(context, keys, receiver, letter),
  record: recordTest,
  recover: (reserved, context) => recordTest(LOST, reserved, context),
})

const MAX_SUBSCRIPTIONS = 100

const push = bindHandlers(pushApi, {
  async vapidKey(_, { sql, systems }) {
    const { publicKey } = await vapidKeys(sql, systems.vault)
    return { publicKey }
  },

  async create({ body: { endpoint, keys, expirationTime, label, ...body } }, context) {
    const { em, systems, service, actor, emit, refuse } = context
    const refused = systems.outbound.judge(endpoint)
    if (refused) return refuse('endpoint_refused', `endpoint: ${refused.message}`)
    const events = [...new Set(body.events ?? urgentPushEvents)]
    const unknown = eventNamesProblem('events', events, service)
    if (unknown) return refuse('unknown_event', unknown)
    // Serialized, so that the limit holds and no endpoint is subscribed twice. What is being deleted is not renewed.
    await lockTenant(context, 'push')
    const existing = await em.findOne(PushSubscription, { endpoint }, FOR_UPDATE)
    if (existing && isOthersPushSubscription(existing, actor)) return refuse('not_subscription_owner')
    if (!existing && (await em.count(PushSubscription)) >= MAX_SUBSCRIPTIONS)
      return refuse('too_many_subscriptions')
    const id = existing?.id ?? newId('push')
    const expiresAt = expirationTime === null ? null : new Date(expirationTime)
    const auth = systems.vault.seal(keys.auth, pushSecretContext(id))
    const personId = personOf(actor)
    const members = { p256dh: keys.p256dh, auth, events, label, personId, expiresAt }
    const subscription = existing
      ? Object.assign(existing, members)
      : em.create(PushSubscription, { id, endpoint, ...members })
    emit(
      existing ? 'push_subscription.updated' : 'push_subscription.created',
      subscriptionEvent(subscription),
    )
    return subscription
  },

  list: (_, { page }) => page(PushSubscription, {}),

  async delete({ params }, { em, actor, emit, refuse }) {
    const subscription = await em.findOne(PushSubscription, { id: params.id }, FOR_UPDATE)
    if (!subscription) return refuse('subscription_not_found')
    if (isOthersPushSubscription(subscription, actor)) return refuse('not_subscription_owner')
    em.remove(subscription)
    emit('push_subscription.deleted', { ...subscriptionEvent(subscription), reason: 'owner' })
  },

  test: testDelivery,

  async drop({ params }, { em, emit }) {
    const subscription = await em.findOne(PushSubscription, { id: params.id }, FOR_UPDATE)
    if (!subscription) return NOT_ACTED
    em.remove(subscription)
    emit('push_subscription.deleted', { ...subscriptionEvent(subscription), reason: 'gone' })
    return ACTED
  },
})

const deletes = { 'push_subscription.deleted': PushSubscriptionDeletedEvent }

async function deleteBrowsersOf(
  personId: string,
  reason: 'person_removed' | 'person_demoted',
  { em, emit }: WriteContext<typeof deletes>,
): Promise<void> {
  const theirs = await em.find(PushSubscription, { personId }, FOR_UPDATE_BY_ID)
  for (const subscription of theirs) {
    em.remove(subscription)
    emit('push_subscription.deleted', { ...subscriptionEvent(subscription), reason })
  }
}

export const pushArea = area('Push Subscriptions', 'Browsers subscribed to events by web push.', push, {
  personal: pushPersonalData,
  entities: [PushSubscription],
  reactions: {
    'person.removed': reaction(personEvents['person.removed'], deletes, ({ personId }, context) =>
      deleteBrowsersOf(personId, 'person_removed', context),
    ),
    // Viewers get none, and could not delete it themselves.
    'person.updated': reaction(
      personEvents['person.updated'],
      deletes,
      async ({ personId, role, changed }, context) => {
        if (changed.includes('role') && role === 'viewer')
          await deleteBrowsersOf(personId, 'person_demoted', context)
      },
    ),
  },
})
