import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { actedSchema, emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema } from '../../values/schemas.ts'
import { unknownEventRefusal } from '../events/index.ts'
import {
  WebhookBacklogEvent,
  WebhookEvent,
  WebhookPingEvent,
  WebhookRecord,
  WebhookSecretRotatedEvent,
  WebhookTestResult,
  WebhookUpdatedEvent,
  WebhookWithSecret,
} from './schemas.ts'
import { MAX_RECORDED_BACKLOG_CHANGES, webhookMachine } from './webhook.ts'

const status = z.enum(webhookMachine.states)

const url = z
  .url({ protocol: /^https?$/, error: 'an http or https URL' })
  .max(2_048)
  .meta({
    description: 'The URL to which events are posted. Use HTTPS, except for trials.',
    examples: ['https://example.com/hooks/payments'],
  })

const events = z
  .array(z.string().max(100))
  .min(1)
  .max(200)
  .meta({
    description: 'Names of events, or `*` for all of them. `GET /events/types` lists them.',
    examples: [['transaction.completed', 'agent.frozen']],
  })

const members = { url, events, description: freeTextSchema.nullable() }

const Named = z.strictObject({ webhookIds: z.array(id('webhook')).max(100) })

const fails = {
  webhook_not_found: notFound('webhook'),
  url_refused: [400, 'url: this address is not allowed. Use one that is reachable from the public internet.'],
  unknown_event: unknownEventRefusal('events'),
  too_many_webhooks: [
    400,
    'Your plan’s limit of subscriptions is reached. Delete one, or add events to an existing one.',
  ],
  changed_too_often: [
    409,
    `This subscription is paused, and its events or status were changed ${MAX_RECORDED_BACKLOG_CHANGES} times meanwhile. Change them once it has caught up: \`backlog\` is null then.`,
  ],
  no_next_secret: [400, 'No new secret is waiting. Create one with POST /webhooks/{id}/rotate-secret.'],
} as const satisfies Record<string, RefusalSpec>
const {
  webhook_not_found,
  url_refused,
  unknown_event,
  too_many_webhooks,
  changed_too_often,
  no_next_secret,
} = fails

const readers = operationsFor({ callers: ['key'], scope: 'webhooks:read' })
const writers = operationsFor({ callers: ['key'], scope: 'webhooks:write' })

export const webhooksApi = {
  create: writers.post('/webhooks', {
    summary: 'Subscribe to events',
    description:
      'From now on, each event with these names is sent to the URL at least once, signed with the secret.\n\nYour plan decides how often a delivery is tried, and how many subscriptions you can have in each mode: 5 on `free`, 20 on `starter`, 100 on `business`, 1,000 on `enterprise`. Reserved events can be named; they are never sent.',
    body: z.strictObject({
      url,
      events,
      description: members.description.default(null),
      ping: z.boolean().default(false).meta({ description: 'Whether a `webhook.ping` is sent at once.' }),
    }),
    example: {
      url: 'https://example.com/hooks/payments',
      events: ['transaction.completed', 'agent.frozen'],
      description: 'Bookkeeping',
      ping: true,
    },
    returns: [201, WebhookWithSecret.meta({ id: 'CreatedWebhook' })],
    fails: { url_refused, unknown_event, too_many_webhooks },
    emits: {
      'webhook.created': declareEvent('A webhook subscription was created.', WebhookEvent),
      'webhook.ping': declareEvent(
        'Sent once to a new subscription, on request, and to no other.',
        WebhookPingEvent,
      ),
    },
  }),
  list: readers.list('/webhooks', {
    readsClock: true,
    summary: 'List subscriptions',
    filters: { status: status.optional() },
    item: WebhookRecord,
  }),
  get: readers.get('/webhooks/{id}', {
    readsClock: true,
    summary: 'Get a subscription',
    returns: [200, WebhookRecord],
    fails: { webhook_not_found },
  }),
  update: writers.patch('/webhooks/{id}', {
    summary: 'Change, disable or enable a subscription',
    description:
      'A disabled subscription gets no new events; waiting deliveries are sent once it is active again. Enabling it, or giving it another URL, resets the failures of its receiver.',
    body: z.strictObject({ ...members, status }).partial(),
    example: { description: 'Bookkeeping and alerts' },
    returns: [200, WebhookRecord],
    fails: { webhook_not_found, url_refused, unknown_event, changed_too_often },
    emits: {
      'webhook.updated': declareEvent(
        'A subscription has changed, or was disabled or enabled by its owner.',
        WebhookUpdatedEvent,
      ),
    },
  }),
  delete: writers.del('/webhooks/{id}', {
    summary: 'Delete a subscription',
    description: 'Deliveries that are being sent still arrive; waiting ones are not sent.',
    returns: [204, emptyBody],
    fails: { webhook_not_found },
    emits: { 'webhook.deleted': declareEvent('A subscription has been deleted.', WebhookEvent) },
  }),
  test: writers.post('/webhooks/{id}/test', {
    run: 'external',
    summary: 'Send a test event and return the receiver’s answer',
    description:
      'Signed like every delivery, and sent once. If the receiver accepts it, a subscription that is paused for its failures resumes at once.',
    body: z.strictObject({
      event: z
        .string()
        .max(100)
        .default('webhook.ping')
        .meta({ description: 'The event whose example is sent.', examples: ['transaction.completed'] }),
    }),
    example: { event: 'transaction.completed' },
    returns: [200, WebhookTestResult],
    fails: {
      webhook_not_found,
      unknown_event: unknownEventRefusal('event'),
    },
    emits: {
      'webhook.tested': declareEvent(
        'A test event was sent to a receiver.',
        z.object({
          webhookId: id('webhook'),
          deliveryId: z.string(),
          delivered: z.boolean(),
        }),
      ),
    },
  }),
  rotateSecret: writers.post('/webhooks/{id}/rotate-secret', {
    summary: 'Rotate the signing secret',
    description:
      'Until the overlap ends, or `activate-secret` is called, `X-Service-Signature` is made with the old secret and `X-Service-Signature-Next` with the new one: meanwhile, give your receiver the new one, and let it accept either header. `webhook-signature` then has both signatures, and libraries of Standard Webhooks accept either. A new secret that is already waiting is replaced.',
    body: z.strictObject({
      overlapHours: z
        .int()
        .min(0)
        .max(720)
        .default(24)
        .meta({ description: 'With 0, the new secret is active at once.' }),
    }),
    example: { overlapHours: 24 },
    returns: [200, WebhookWithSecret.meta({ id: 'RotatedWebhook' })],
    fails: { webhook_not_found },
    emits: {
      'webhook.secret_rotated': declareEvent(
        'A subscription has a new secret, which is not active yet.',
        WebhookSecretRotatedEvent,
      ),
    },
  }),
  activateSecret: writers.post('/webhooks/{id}/activate-secret', {
    summary: 'Activate the new secret',
    returns: [200, WebhookRecord],
    fails: { webhook_not_found, no_next_secret },
    emits: {
      'webhook.secret_activated': declareEvent(
        'The new secret of a subscription is active.',
        z.object({ webhookId: id('webhook') }),
      ),
    },
  }),
  pause: internal.post('/webhooks/pause', {
    summary: 'Pause subscriptions with too many waiting deliveries',
    body: Named,
    example: { webhookIds: ['webhook_01jd8x2m4ye7k9v0c3q5r6t8wz'] },
    returns: [200, Named],
    emits: {
      'webhook.paused': declareEvent(
        'Some subscriptions exceed the plan’s limit of waiting deliveries: they get later events once they catch up.',
        WebhookBacklogEvent,
      ),
    },
  }),
  resume: internal.post('/webhooks/resume', {
    summary: 'Resume subscriptions that have caught up',
    body: Named,
    example: { webhookIds: ['webhook_01jd8x2m4ye7k9v0c3q5r6t8wz'] },
    returns: [200, Named],
    emits: {
      'webhook.resumed': declareEvent(
        'Paused subscriptions have caught up and get events at once again.',
        WebhookBacklogEvent,
      ),
    },
  }),
  giveUp: internal.post('/webhooks/{id}/give-up', {
    summary: 'Disable a subscription whose receiver is gone or keeps failing',
    body: z.strictObject({
      reason: z.enum(['gone', 'failing']),
      url: z
        .string()
        .max(2_048)
        .nullable()
        .meta({ description: 'The URL that answered; a newer one is not affected.' }),
    }),
    example: { reason: 'gone', url: null },
    returns: [200, actedSchema],
    fails: { webhook_not_found },
    emits: {
      'webhook.disabled': declareEvent(
        'A subscription was disabled: its receiver answered 410, or has failed for five days.',
        WebhookEvent,
      ),
    },
  }),
}
