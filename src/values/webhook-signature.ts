import { createHmac, createSecretKey, hkdfSync } from 'node:crypto'
import { memoizeBounded } from './bounded-cache.ts'

export interface WebhookSecrets {
  readonly current: string
  readonly next: string | null
}

const STANDARD_FORM = /^whsec_[A-Za-z\d+/]{43}=$/

/**
 * The secret for libraries of Standard Webhooks, which decode it as padded base64. It is derived, so a
 * subscription has one from its beginning and both are rotated together; a secret that has the form already
 * is used as it is.
 */
export const standardWebhookSecret = memoizeBounded(secret => {
  if (STANDARD_FORM.test(secret)) return secret
  const key = hkdfSync('sha256', secret, '', 'standard-webhooks', 32)
  return `whsec_${Buffer.from(key).toString('base64')}`
})

/** Cached: making a key object takes four times as long as signing with it. */
const standardKey = memoizeBounded(secret =>
  createSecretKey(standardWebhookSecret(secret).slice('whsec_'.length), 'base64'),
)

const standardSignature = (signed: string, secret: string): string =>
  `v1,${createHmac('sha256', standardKey(secret)).update(signed).digest('base64')}`

interface Signed {
  readonly deliveryId: string
  /** The same for every attempt and every subscription. */
  readonly eventId: string
  readonly at: Date
  readonly event: string
  readonly body: string
  readonly requestId: string
}

/**
 * This service's signature covers delivery id, timestamp and body, as they are sent; that of Standard
 * Webhooks covers the event's id in place of the delivery's, since its message id is the same for every
 * attempt.
 */
export function signWebhookHeaders(
  { deliveryId, eventId, at, event, body, requestId }: Signed,
  { current, next }: WebhookSecrets,
): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const sign = (secret: string): string =>
    `sha256=${createHmac('sha256', secret).update(`${deliveryId}.${timestamp}.${body}`).digest('hex')}`
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'AgentPayments-Webhooks/1',
    'X-Service-Event': event,
    'X-Service-Event-Id': eventId,
    'X-Service-Timestamp': timestamp,
    'X-Service-Delivery-Id': deliveryId,
    'X-Service-Signature': sign(current),
    ...(next === null ? {} : { 'X-Service-Signature-Next': sign(next) }),
    'X-Request-Id': requestId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': [current, next]
      .filter(secret => secret !== null)
      .map(secret => standardSignature(`${eventId}.${timestamp}.${body}`, secret))
      .join(' '),
  }
}
