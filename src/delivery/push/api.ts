import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { actedSchema, emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { secretMeta } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { labelSchema, patternTextSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { unknownEventRefusal } from '../events/index.ts'
import { isP256PublicKey, urgentPushEvents } from './subscription.ts'

const PUBLIC_KEY = 'BA9MR7Dxr_zzx3JMG2oS_LygOpuiz2d7pNryvgFLIDfqGTyK77ZKaS1CexDCRTSfxdyV93r4_d9RQ5rluG3mWEI'

const endpoint = z
  .url({ protocol: /^https$/, error: 'an https URL' })
  .max(2_048)
  .meta({ description: 'URL of the push service.', examples: ['https://push.example.com/wpush/v2/gAAAAA'] })

const publicKey = 'a public key of P-256 in base64url, as PushSubscription.toJSON() gives it'

const keys = z
  .strictObject({
    p256dh: z
      .string()
      .max(88, { error: publicKey, abort: true })
      .refine(isP256PublicKey, publicKey)
      .meta({ examples: [PUBLIC_KEY] }),
    auth: patternTextSchema(/^[\w-]{22}(==)?$/, 24, '16 bytes in base64url').meta({
      examples: ['7iwaOdljM2r9dBkAkeb5zw'],
    }),
  })
  .meta(secretMeta)

const events = z
  .array(z.string().max(100))
  .min(1)
  .max(200)
  .meta({
    description: 'Names of events, or `*` for all of them. `GET /events/types` lists them.',
    examples: [urgentPushEvents],
  })

const milliseconds = z.number().min(0).max(8_640_000_000_000_000)

const subscriber = id('person')
  .nullable()
  .meta({ description: 'The person who subscribed it, also with the key of a device; null for another key.' })

export const PushSubscriptionRecord = z
  .object({
    ...recordHead('push'),
    endpoint: z.string().meta({ examples: ['https://push.example.com/wpush/v2/gAAAAA'] }),
    events,
    label: z.string().nullable(),
    personId: subscriber,
    expiresAt: instant.nullable().meta({ description: 'The time after which nothing is sent.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'PushSubscription' })

/** It names the person, so that their erasure reaches the label. */
const SubscriptionEvent = z.object({
  subscriptionId: id('push'),
  label: z.string().max(200).nullable(),
  personId: subscriber,
})
export const PushSubscriptionDeletedEvent = SubscriptionEvent.extend({
  reason: z.enum(['owner', 'gone', 'person_removed', 'person_demoted']).meta({
    description:
      '`gone`: the push service no longer knows it. `person_removed`: the person was removed; `person_demoted`: is a viewer now.',
  }),
})

const TestResult = z
  .object({
    subscriptionId: id('push'),
    delivered: z.boolean().meta({ description: 'Whether the push service accepted the message.' }),
    dropped: z.boolean().meta({
      description: 'Whether the subscription was deleted, since the push service no longer knows it.',
    }),
    status: z
      .int()
      .nullable()
      .meta({ examples: [201] }),
    message: z.string().meta({ examples: ['The push service accepted it.'] }),
  })
  .meta({ id: 'PushTest' })

const fails = {
  subscription_not_found: notFound('push subscription'),
  endpoint_refused: [
    400,
    'endpoint: this address is not allowed. Send the endpoint of the browser’s subscription.',
  ],
  unknown_event: unknownEventRefusal('events'),
  not_subscription_owner: [
    403,
    'This subscription belongs to another person. Only they or an owner can change it.',
  ],
  too_many_subscriptions: [400, 'There are already 100 push subscriptions. Delete one.'],
} as const satisfies Record<string, RefusalSpec>
const {
  subscription_not_found,
  endpoint_refused,
  unknown_event,
  not_subscription_owner,
  too_many_subscriptions,
} = fails

const readers = operationsFor({ callers: ['key'], scope: 'push:read' })
const writers = operationsFor({ callers: ['key'], scope: 'push:write' })

export const pushApi = {
  vapidKey: readers.get('/push/vapid-key', {
    summary: 'Get the key that browsers subscribe with',
    description:
      'Pass it to `pushManager.subscribe({ userVisibleOnly: true, applicationServerKey })`. The key never changes.',
    returns: [200, z.object({ publicKey: z.string().meta({ examples: [PUBLIC_KEY] }) })],
  }),
  create: writers.post('/push/subscriptions', {
    repeatsForCaller: true,
    summary: 'Subscribe a browser to events',
    description: [
      'The body is the result of `PushSubscription.toJSON()`, with your additions. An endpoint that is already subscribed keeps its ID, and everything else is replaced.',
      'A push is sent once, encrypted for that browser, and contains only the event’s name and IDs: your service worker asks the API for the rest. Intents that are decided at once are left out. If a process dies while it sends a push, the push is sent again with the same `eventId`: show it with that as its `tag`.',
    ].join('\n\n'),
    body: z.strictObject({
      endpoint,
      keys,
      expirationTime: milliseconds
        .nullable()
        .default(null)
        .meta({ description: 'Milliseconds since 1970.', examples: [null] }),
      events: events.optional().meta({
        description: `Defaults to ${urgentPushEvents.map(name => `\`${name}\``).join(', ')}.`,
        examples: [['intent.created']],
      }),
      label: labelSchema
        .nullable()
        .default(null)
        .meta({ examples: ['Ada’s phone'] }),
    }),
    example: {
      endpoint: 'https://push.example.com/wpush/v2/gAAAAA',
      expirationTime: null,
      keys: { p256dh: PUBLIC_KEY, auth: '7iwaOdljM2r9dBkAkeb5zw' },
      label: 'Ada’s phone',
    },
    returns: [201, PushSubscriptionRecord],
    fails: { endpoint_refused, unknown_event, not_subscription_owner, too_many_subscriptions },
    emits: {
      'push_subscription.created': declareEvent('A browser was subscribed to events.', SubscriptionEvent),
      'push_subscription.updated': declareEvent(
        'The events of a browser subscription have changed.',
        SubscriptionEvent,
      ),
    },
  }),
  list: readers.list('/push/subscriptions', {
    summary: 'List push subscriptions',
    item: PushSubscriptionRecord,
  }),
  delete: writers.del('/push/subscriptions/{id}', {
    summary: 'Delete a push subscription',
    returns: [204, emptyBody],
    fails: { subscription_not_found, not_subscription_owner },
    emits: {
      'push_subscription.deleted': declareEvent(
        'A browser subscription was deleted, by its owner or because its push service no longer knows it.',
        PushSubscriptionDeletedEvent,
      ),
    },
  }),
  test: writers.post('/push/subscriptions/{id}/test', {
    repeatsForCaller: true,
    run: 'external',
    summary: 'Send a test push and return the push service’s answer',
    description:
      'A `push_subscription.tested`. Where the push service answers 404 or 410, the subscription is deleted, as it is when an event is sent.',
    returns: [200, TestResult],
    fails: { subscription_not_found, not_subscription_owner },
    emits: {
      'push_subscription.tested': declareEvent(
        'A test push was sent.',
        SubscriptionEvent.extend({ delivered: z.boolean() }),
      ),
      'push_subscription.deleted': PushSubscriptionDeletedEvent,
    },
  }),
  drop: internal.post('/push/subscriptions/{id}/drop', {
    summary: 'Delete a subscription that its push service no longer knows',
    returns: [200, actedSchema],
    emits: { 'push_subscription.deleted': PushSubscriptionDeletedEvent },
  }),
}
