import { createHmac } from 'node:crypto'

/** The secrets that sign an attempt: the current one, and during a rotation the next one, too. */
export interface Secrets {
  readonly current: string
  readonly next: string | null
}

interface Signed {
  /** New for every attempt. */
  readonly deliveryId: string
  /** The same for every attempt and every subscription. */
  readonly eventId: string
  readonly at: Date
  readonly event: string
  readonly body: string
  readonly requestId: string
}

/** The headers of an attempt. The signature covers delivery id, timestamp and body, as they are sent. */
export function signedHeaders(
  { deliveryId, eventId, at, event, body, requestId }: Signed,
  { current, next }: Secrets,
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
  }
}
