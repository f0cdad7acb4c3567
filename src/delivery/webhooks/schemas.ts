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
  pausedAt: instant.meta({ description: 'Since when no deliveries are made as events happen.' }),
  after: z.string().meta({
    description: 'The last event for which a delivery was made where one was wanted.',
    examples: ['event_01jd8x2m4ye7k9v0c3q5r6t8wz'],
  }),
  message: z.string().meta({
    examples: ['More waits than your plan allows. Events that come now are sent later, in order.'],
  }),
})

const RetriesRecord = z
  .object({
    tier: z.enum(retryTierNames).meta({ examples: ['full_retry'] }),
    maxAttempts: z.int().meta({ examples: [5] }),
    backoffSeconds: z.array(z.int()).meta({
      description: 'The waits before the second attempt, the third, and so on; empty where there is one.',
      examples: [[60, 300, 900, 3_600]],
    }),
    deadLetter: z.boolean().meta({ description: 'Whether the last failure leaves a dead letter.' }),
  })
  .meta({ description: 'How often a delivery is tried, by your plan.' })

export const WebhookRecord = z
  .object({
    ...recordHead('webhook'),
    url: z.string().meta({ examples: ['https://example.com/hooks/payments'] }),
    events: z.array(z.string()).meta({ examples: [['transaction.completed', 'agent.frozen']] }),
    description: z.string().nullable(),
    status: z
      .enum(webhookMachine.states)
      .meta({ description: 'Events that happen while it is disabled are not sent later.' }),
    statusReason: z.string().nullable().meta({ description: 'Why it is disabled.' }),
    hint: z.string().meta({ description: 'The end of the secret.', examples: ['x4Qz'] }),
    nextSecret: z
      .object({ hint: z.string().meta({ examples: ['b7Lm'] }), from: instant })
      .nullable()
      .meta({ description: 'The secret that takes over, and when.' }),
    retries: RetriesRecord,
    health: HealthRecord,
    backlog: BacklogRecord.nullable().meta({
      description:
        'Where more deliveries wait than your plan allows: the subscription is paused, and is sent what happens meanwhile as its receiver takes what waits. Nothing is lost or left out.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'Webhook' })

export const DeliveryAttemptRecord = z.object({
  deliveryId: z.string().meta({
    description: '`X-Service-Delivery-Id`, another one for each attempt.',
    examples: ['delivery_01jd8x2m4ye7k9v0c3q5r6t8wz-1.274877906944'],
  }),
  at: z.iso.datetime().meta({
    description: 'In real time, as `X-Service-Timestamp` is.',
    examples: ['2026-11-20T09:30:00.000Z'],
  }),
  status: z.int().nullable().meta({ description: 'What the receiver answered; null where it did not.' }),
  latencyMs: z.int().nullable(),
  error: z.string().nullable().meta({ description: 'Why it does not count; null where it was taken.' }),
  responseStart: z
    .string()
    .nullable()
    .meta({ description: 'How the answer began, without what looks like a secret.', examples: ['OK'] }),
})

export const WebhookEvent = z.object({
  webhookId: id('webhook'),
  status: z.enum(webhookMachine.states),
  reason: z.string().nullable().meta({ description: 'Why it is disabled.' }),
})
export const WebhookUpdatedEvent = WebhookEvent.extend({ changed: z.array(z.string()) })
export const WebhookPingEvent = z.object({ webhookId: id('webhook') }).meta({
  description: 'Sent to one subscription when it is made, where that is asked for.',
})
export const WebhookSecretRotatedEvent = z.object({ webhookId: id('webhook'), from: instant })
export const WebhookBacklogEvent = z.object({ ownerId: z.string(), webhookIds: z.array(id('webhook')) })

export const WebhookTestResult = z
  .object({
    webhookId: id('webhook'),
    event: z.string().meta({ examples: ['transaction.completed'] }),
    delivered: z.boolean().meta({ description: 'Whether the receiver has taken it.' }),
    attempt: DeliveryAttemptRecord.nullable().meta({
      description: 'Null where it is not known what came of it.',
    }),
    body: z.string().meta({ description: 'What was sent, byte for byte.' }),
  })
  .meta({ id: 'WebhookTest' })

export const WebhookWithSecret = WebhookRecord.extend({
  secret: shownOnceSchema('whsec_5Vd9…').describe('Signs what is sent. Shown once; null in a replay.'),
  standardSecret: shownOnceSchema('whsec_MfKQ…=').describe(
    'The same for libraries of Standard Webhooks, which verify `webhook-signature`. Shown once; null in a replay.',
  ),
})
