import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { newId } from '../../values/ids.ts'
import { misnamed } from '../events/index.ts'
import { pushApi } from './api.ts'
import { PushSubscription, sealContext, urgentEvents } from './subscription.ts'
import { trial } from './test-delivery.ts'
import { vapidKeys } from './vapid.ts'

const MOST = 100

const about = ({ id, label }: PushSubscription) => ({ subscriptionId: id, label })

const push = implement(pushApi, {
  async vapidKey(_, { sql, ports }) {
    const { publicKey } = await vapidKeys(sql, ports.vault)
    return { publicKey }
  },

  async create({ body: { endpoint, keys, expirationTime, label, ...body } }, context) {
    const { em, ports, emit, refuse } = context
    const refused = ports.outbound.judge(endpoint)
    if (refused) return refuse('endpoint_refused', `endpoint: ${refused.message}`)
    const events = [...new Set(body.events ?? urgentEvents)]
    const unknown = misnamed('events', events, ports)
    if (unknown) return refuse('unknown_event', unknown)
    // Neither does the limit give way, nor is an endpoint subscribed twice.
    await lockTenant(context, 'push')
    const known = await em.findOne(PushSubscription, { endpoint })
    if (!known && (await em.count(PushSubscription)) >= MOST) return refuse('too_many_subscriptions')
    const id = known?.id ?? newId('push')
    const expiresAt = expirationTime === null ? null : new Date(expirationTime)
    const auth = ports.vault.seal(keys.auth, sealContext(id))
    const members = { p256dh: keys.p256dh, auth, events, label, expiresAt }
    const subscription = known
      ? Object.assign(known, members)
      : em.create(PushSubscription, { id, endpoint, ...members })
    emit(known ? 'push_subscription.updated' : 'push_subscription.created', about(subscription))
    return subscription
  },

  list: (_, { page }) => page(PushSubscription, {}),

  async delete({ params }, { em, emit, refuse }) {
    const subscription = await lock(em, PushSubscription, params.id)
    if (!subscription) return refuse('subscription_not_found')
    em.remove(subscription)
    emit('push_subscription.deleted', { ...about(subscription), reason: 'owner' })
  },

  test: trial,

  async drop({ params }, { em, emit }) {
    const subscription = await lock(em, PushSubscription, params.id)
    if (!subscription) return { acted: false }
    em.remove(subscription)
    emit('push_subscription.deleted', { ...about(subscription), reason: 'gone' })
    return { acted: true }
  },
})

export const pushArea = area('Push Subscriptions', 'Browsers that are told of events.', push, {
  entities: [PushSubscription],
})
