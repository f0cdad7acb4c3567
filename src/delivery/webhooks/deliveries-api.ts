import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { actedSchema, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { pageQuerySchema, pageSchemaOf } from '../../kernel/contract/page.ts'
import { step } from '../../kernel/contract/step.ts'
import { completeFromSchema } from '../../kernel/journal/timeline.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps, searchTextSchema, timeRangeMembers } from '../../values/schemas.ts'
import { unknownEventRefusal } from '../events/index.ts'
import { deliveryStatuses, endedDeliveryStatuses } from './delivery.ts'
import { DeliveryAttemptRecord, WebhookEvent } from './schemas.ts'

const status = z.enum(deliveryStatuses)

export const DeliveryRecord = z
  .object({
    ...recordHead('delivery'),
    webhookId: id('webhook'),
    eventId: id('event'),
    event: z.string().meta({ examples: ['transaction.completed'] }),
    status,
    explanation: z.string().meta({
      description: 'Status and reason, in a sentence.',
      examples: ['Delivered at the first attempt, in 34 ms.'],
    }),
    attempts: z.array(DeliveryAttemptRecord).meta({ description: 'The last 25 attempts, oldest first.' }),
    nextAttemptAt: instant
      .nullable()
      .meta({ description: 'By your clock: in test mode, advancing it triggers the attempt.' }),
    workflowId: z
      .string()
      .nullable()
      .meta({ description: 'Workflow of the retries in Temporal. Null until one is needed.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Delivery' })

const filters = { event: z.string().max(100).optional(), ...timeRangeMembers }

const causes = {
  eventId: id('event').optional(),
  requestId: searchTextSchema.meta({
    description:
      'Only deliveries of events that this request caused. Of more than a thousand events, the newest count.',
  }),
}

const fails = {
  delivery_not_found: notFound('delivery'),
  webhook_not_found: notFound('webhook'),
  event_not_found: notFound('event'),
  unknown_event: unknownEventRefusal('event'),
  webhook_deleted: [400, 'The subscription is deleted, so the delivery cannot be sent.'],
  delivery_under_way: [409, 'The delivery is in progress. Try again in half a minute.'],
} as const satisfies Record<string, RefusalSpec>
const {
  delivery_not_found,
  webhook_not_found,
  event_not_found,
  unknown_event,
  webhook_deleted,
  delivery_under_way,
} = fails

const readers = operationsFor({ callers: ['key'], scope: 'webhooks:read' })
const writers = operationsFor({ callers: ['key'], scope: 'webhooks:write' })

export const deliveriesApi = {
  deliveries: readers.list('/webhooks/{id}/deliveries', {
    readsClock: true,
    summary: 'List the deliveries of a subscription',
    description: 'Newest first, with every attempt: the answer, its latency, and the next attempt.',
    filters: { status: status.optional(), ...filters },
    item: DeliveryRecord,
    fails: { webhook_not_found, unknown_event },
  }),
  allDeliveries: readers.get('/webhooks/deliveries', {
    readsClock: true,
    summary: 'List the deliveries of all subscriptions',
    query: pageQuerySchema({
      status: status.optional(),
      webhookId: id('webhook').optional(),
      ...causes,
      ...filters,
    }),
    returns: [200, pageSchemaOf(DeliveryRecord).extend({ completeFrom: completeFromSchema })],
    fails: { unknown_event },
  }),
  delivery: readers.get('/webhooks/deliveries/{id}', {
    readsClock: true,
    summary: 'Get a delivery',
    description: 'Accepts its ID, or the `X-Service-Delivery-Id` of one of its attempts.',
    returns: [200, DeliveryRecord],
    fails: { delivery_not_found },
  }),
  replay: writers.post('/webhooks/deliveries/{id}/replay', {
    summary: 'Replay a delivery',
    description:
      'Works in any status, and sends the same body under a new delivery ID, with all attempts of your plan. A delivery that waits for its next attempt is sent at once.',
    returns: [200, DeliveryRecord],
    fails: { delivery_not_found, webhook_deleted, delivery_under_way },
    emits: {
      'webhook.replayed': declareEvent(
        'A delivery is being replayed.',
        z.object({ deliveryId: id('delivery'), webhookId: id('webhook') }),
      ),
    },
  }),
  replayDeliveries: writers.post('/webhooks/deliveries/replay', {
    summary: 'Replay matching deliveries',
    description:
      'Replays ended deliveries that match and still have a subscription, oldest first, at most 1,000 at once. While there are more, call again with `last` as `after`. Pending deliveries are not changed.',
    body: z.strictObject({
      status: z.enum(endedDeliveryStatuses).optional().meta({
        description: 'Defaults to `failed` and `dead`.',
      }),
      webhookId: id('webhook').optional(),
      ...causes,
      ...filters,
      after: searchTextSchema.meta({ description: '`last` of the previous call, to continue from there.' }),
    }),
    example: { event: 'transaction.completed' },
    returns: [
      200,
      z.object({
        replayed: z.int(),
        more: z.boolean(),
        last: id('delivery').nullable().meta({ description: 'The last delivery that was checked.' }),
      }),
    ],
    fails: { webhook_not_found, event_not_found, unknown_event },
    emits: {
      'webhook.deliveries_replayed': declareEvent(
        'Matching deliveries are being replayed.',
        z.object({
          ownerId: id('customer'),
          webhookId: id('webhook').nullable(),
          count: z.int(),
        }),
      ),
    },
  }),
  deadLetters: readers.list('/webhooks/dead-letters', {
    readsClock: true,
    summary: 'List dead letters',
    description:
      'Deliveries that failed in all attempts, on the plan `enterprise`. Like every delivery, they are kept for 30 days.',
    filters: { webhookId: id('webhook').optional(), ...filters },
    item: DeliveryRecord,
    fails: { unknown_event },
  }),
  replayDeadLetters: writers.post('/webhooks/dead-letters/replay', {
    summary: 'Replay dead letters',
    description:
      'Replays all that match and still have a subscription, oldest first, at most 1,000 at once: call again while there are more.',
    body: z.strictObject({ webhookId: id('webhook').optional(), ...filters }),
    example: { event: 'transaction.completed' },
    returns: [200, z.object({ replayed: z.int(), more: z.boolean() })],
    fails: { webhook_not_found, unknown_event },
    emits: {
      'webhook.dead_letters_replayed': declareEvent(
        'Dead letters are being replayed.',
        z.object({
          ownerId: id('customer'),
          webhookId: id('webhook').nullable(),
          count: z.int(),
        }),
      ),
    },
  }),
  retry: internal.post('/webhooks/deliveries/{id}/retry', {
    summary: 'Try again now',
    returns: [200, actedSchema],
    fails: { delivery_not_found },
  }),
}

export const webhookSteps = {
  /** Does nothing before the attempt is due, and where its subscription does not serve. */
  attempt: step('webhooks.attempt', {
    summary: 'Send a webhook to its receiver again',
    emits: { 'webhook.disabled': WebhookEvent },
    ownBounds: true,
  }),
}
