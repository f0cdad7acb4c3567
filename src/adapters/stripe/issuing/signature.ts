import { createHmac, timingSafeEqual } from 'node:crypto'
import { minutes } from '../../../values/clock.ts'

const TOLERANCE_MS = minutes(5)
/** While secrets are rotated, Stripe sends one signature per valid secret. */
const MOST_SIGNATURES = 10

/**
 * Checks `t=<seconds>,v1=<hex>,…`: HMAC-SHA256 over the time, a dot, and the raw body, with one of the
 * secrets. Returns what is wrong.
 */
export function stripeSignatureProblem(
  body: Uint8Array,
  header: string | undefined,
  secrets: readonly string[],
  now: Date,
): string | null {
  if (!header) return 'Stripe-Signature is missing.'
  const { time, signatures } = partsOf(header)
  if (time === undefined || signatures.length === 0) return 'Stripe-Signature has no time or no v1 signature.'
  const expected = secrets.map(secret =>
    createHmac('sha256', secret).update(`${time}.`).update(body).digest(),
  )
  if (!signatures.some(given => expected.some(one => isEqual(given, one))))
    return 'No signature was made with a webhook secret of this service.'
  const age = now.getTime() - Number(time) * 1000
  return Math.abs(age) > TOLERANCE_MS ? 'The signature is older or newer than five minutes.' : null
}

function partsOf(header: string): { time: string | undefined; signatures: Buffer[] } {
  const parts = header.split(',').map(part => part.trim().split('='))
  const time = parts.find(([name, value]) => name === 't' && /^\d{1,12}$/.test(value ?? ''))?.[1]
  const given = parts.flatMap(([name, value = '']) =>
    name === 'v1' && /^[\da-f]{64}$/i.test(value) ? [value] : [],
  )
  return { time, signatures: given.slice(0, MOST_SIGNATURES).map(hex => Buffer.from(hex, 'hex')) }
}

const isEqual = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other)
