import { z } from 'zod'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { retryTierNames } from './dispatch/retry.ts'
import { webhookConditions } from './health.ts'
import { webhookMachine } from './webhook.ts'

const HealthRecord = z.object({
  condition: z.enum(webhookConditions),
  failingSince: instant.nullable(),
  pausedUntil: instant
    .nullable()
    .meta({ description: 'A failing receiver is tried at growing intervals until a delivery succeeds.' }),
  message: z.string().meta({ examples: ['Deliveries succeed.'] }),
})

const BacklogRecord = z.object({
  pausedAt: instant.meta({ description: 'The time since which the subscription is paused.' }),
  after: z.string().meta({
    description: 'The last event that was processed for the subscription.',
    examples: ['event_01jd8x2m4ye7k9v0c3q5r6t8wz'],
  }),
  message: z.string().meta({
    examples: ['More deliveries wait than your plan allows. New events are sent later, in order.'],
  }),
})

const RetriesRecord = z
  .object({
    tier: z.enum(retryTierNames).meta({ examples: ['full_retry'] }),
    maxAttempts: z.int().meta({ examples: [5] }),
    backoffSeconds: z.array(z.int()).meta({
      description: 'Waits before the second attempt, the third, and so on. Empty if there is only one.',
      examples: [[60, 300, 900, 3_600]],
    }),
    deadLetter: z.boolean().meta({ description: 'Whether the last failure leaves a dead letter.' }),
  })
  .meta({ description: 'Number of attempts per delivery, by your plan.' })

export const WebhookRecord = z
  .object({
    ...recordHead('webhook'),
    url: z.string().meta({ examples: ['https://example.com/hooks/payments'] }),
    events: z.array(z.string()).meta({ examples: [['transaction.completed', 'agent.frozen']] }),
    description: z.string().nullable(),
    status: z
      .enum(webhookMachine.states)
      .meta({ description: 'Events that happen while it is disabled are not sent later.' }),
    statusReason: z.string().nullable().meta({ description: 'Why the subscription is disabled.' }),
    hint: z.string().meta({ description: 'Last characters of the secret.', examples: ['x4Qz'] }),
    nextSecret: z
      .object({ hint: z.string().meta({ examples: ['b7Lm'] }), from: instant })
      .nullable()
      .meta({ description: 'The next secret, and when it takes over.' }),
    retries: RetriesRecord,
    health: HealthRecord,
    backlog: BacklogRecord.nullable().meta({
      description:
        'Set if more deliveries wait than your plan allows: the subscription is paused, and gets later events as its receiver accepts the waiting ones. Nothing is lost.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'Webhook' })

export const DeliveryAttemptRecord = z.object({
  deliveryId: z.string().meta({
    description: '`X-Service-Delivery-Id`, which differs for each attempt.',
    examples: ['delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944'],
  }),
  at: z.iso.datetime().meta({
    description: 'In real time, like `X-Service-Timestamp`.',
    examples: ['2026-11-20T09:30:00.000Z'],
  }),
  status: z.int().nullable().meta({ description: 'HTTP status of the receiver’s answer. Null without one.' }),
  latencyMs: z.int().nullable(),
  error: z
    .string()
    .nullable()
    .meta({ description: 'Why the attempt failed. Null if the receiver accepted it.' }),
  responseStart: z
    .string()
    .nullable()
    .meta({ description: 'Beginning of the answer, without likely secrets.', examples: ['OK'] }),
})

export const WebhookEvent = z.object({
  webhookId: id('webhook'),
  status: z.enum(webhookMachine.states),
  reason: z.string().nullable().meta({ description: 'Why the subscription is disabled.' }),
})
export const WebhookUpdatedEvent = WebhookEvent.extend({ changed: z.array(z.string()) })
export const WebhookPingEvent = z.object({ webhookId: id('webhook') }).meta({
  description: 'Sent once to a new subscription, on request.',
})
export const WebhookSecretRotatedEvent = z.object({ webhookId: id('webhook'), from: instant })
export const WebhookBacklogEvent = z.object({ ownerId: z.string(), webhookIds: z.array(id('webhook')) })

export const WebhookTestResult = z
  .object({
    webhookId: id('webhook'),
    event: z.string().meta({ examples: ['transaction.completed'] }),
    delivered: z.boolean().meta({ description: 'Whether the receiver accepted the event.' }),
    attempt: DeliveryAttemptRecord.nullable().meta({
      description: 'The attempt. Null if its outcome is unknown.',
    }),
    body: z.string().meta({ description: 'The exact bytes that were sent.' }),
  })
  .meta({ id: 'WebhookTest' })

export const WebhookWithSecret = WebhookRecord.extend({
  secret: shownOnceSchema('whsec_5Vd9…').describe('The signing secret. Shown once; null in a replay.'),
  standardSecret: shownOnceSchema('whsec_MfKQ…=').describe(
    'The same secret for libraries of Standard Webhooks, which verify `webhook-signature`. Shown once; null in a replay.',
  ),
})
