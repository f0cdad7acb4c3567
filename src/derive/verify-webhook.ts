import { createHmac, timingSafeEqual } from 'node:crypto'
import { clock } from '../values/system-clock.ts'

export interface WebhookMessage {
  /**
   * Identifies the event: it is the same at every attempt, at a replay and for all subscriptions. You have
   * already handled an id that you have seen.
   */
  readonly eventId: string
  /** Identifies the delivery to this subscription, the same at every attempt and replay. */
  readonly id: string
  readonly event: string
  readonly createdAt: string
  readonly data: Readonly<Record<string, unknown>>
  readonly deliveryId: string
}

/** The request is not from this service, or is too old. Answer 400 and do nothing. */
export class WebhookRejected extends Error {}

type HeaderBag = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

interface Options {
  /** The largest allowed difference between the message's time and your clock. */
  readonly toleranceSeconds?: number
}

/**
 * Proves that a request is a webhook of this secret's subscription. It needs the raw body, byte for byte.
 * Throws a `TypeError` without a secret, since an empty one would accept any sender's signature.
 */
export function verifyWebhook(
  headers: HeaderBag,
  rawBody: string | Uint8Array,
  secret: string | undefined,
  { toleranceSeconds = 300 }: Options = {},
): WebhookMessage {
  if (!secret) throw new TypeError('Give the secret of the subscription: without one anybody could sign.')
  const named = (name: string): string => headerOf(headers, name)
  const [deliveryId, timestamp] = [named('x-service-delivery-id'), named('x-service-timestamp')]
  const expected = createHmac('sha256', secret).update(`${deliveryId}.${timestamp}.`).update(rawBody).digest()
  // During a rotation of the secret there are two signatures, and either secret verifies one of them.
  const given = [named('x-service-signature'), named('x-service-signature-next')]
  if (!given.some(signature => isEqual(signature, expected)))
    throw new WebhookRejected('The signature is not that of this secret.')
  const age = Math.abs(clock.milliseconds() / 1_000 - Number(timestamp))
  if (!(age <= toleranceSeconds)) throw new WebhookRejected('The timestamp is too old, or ahead of time.')
  const text = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody)
  const eventId = named('x-service-event-id')
  return { ...JSON.parse(text), eventId, id: deliveryId.replace(/-[^-]+$/, ''), deliveryId }
}

function headerOf(headers: HeaderBag, name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? ''
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)
  return typeof found?.[1] === 'string' ? found[1] : ''
}

function isEqual(signature: string, expected: Buffer): boolean {
  const given = Buffer.from(/^sha256=([0-9a-f]{64})$/.exec(signature)?.[1] ?? '', 'hex')
  return given.length === expected.length && timingSafeEqual(given, expected)
}
