import { minutes } from '../values/clock.ts'
import {
  decodeBase64urlObject,
  isUnusableInput,
  type JsonObject,
  toBase64url,
  type UnusableInput,
  unusableInput,
} from './base64url.ts'

/** A merchant's confirmation in the header `Payment-Receipt`. Unknown members are kept unchanged. */
export interface PaymentReceipt {
  readonly status: 'success'
  readonly method: string
  readonly timestamp: string
  readonly reference: string
  readonly challengeId?: string
  readonly externalId?: string
  readonly [other: string]: unknown
}

const LONGEST = 16_384

export const serializeReceipt = (receipt: PaymentReceipt): string => toBase64url(JSON.stringify(receipt))

export function parseReceipt(value: string): PaymentReceipt | UnusableInput {
  if (value.length > LONGEST) return unusableInput(`The receipt has more than ${LONGEST} characters.`)
  const given = decodeBase64urlObject('The receipt', value.trim())
  if (isUnusableInput(given)) return given
  const wrong = wrongMember(given)
  return wrong ? unusableInput(wrong) : (given as unknown as PaymentReceipt)
}

function wrongMember(given: JsonObject): string | undefined {
  if (given.status !== 'success') return 'The receipt does not have the status success.'
  const missing = ['method', 'timestamp', 'reference'].find(
    name => typeof given[name] !== 'string' || given[name] === '',
  )
  if (missing) return `The receipt has no ${missing}.`
  const wrong = ['challengeId', 'externalId'].find(
    name => given[name] !== undefined && typeof given[name] !== 'string',
  )
  if (wrong) return `The ${wrong} of the receipt is not a string.`
  return isRfc3339Instant(String(given.timestamp))
    ? undefined
    : 'The timestamp of the receipt is not an RFC 3339 time.'
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/

export const isRfc3339Instant = (text: string): boolean =>
  RFC_3339.test(text) && !Number.isNaN(Date.parse(text))

export interface ExpectedPayment {
  readonly challengeId: string
  readonly externalId?: string | undefined
  readonly method: string
  /** When the credential was sent. The receipt of an earlier payment is older. */
  readonly sentAt?: Date
  readonly now: Date
}

const SKEW = minutes(5)

/** Undefined if the receipt is that of this payment. A receipt is unsigned, so nothing more can be verified. */
export function paymentReceiptProblem(receipt: PaymentReceipt, paid: ExpectedPayment): string | undefined {
  const { method, challengeId, externalId, timestamp } = receipt
  if (method !== paid.method) return 'The receipt is for another payment method.'
  if (challengeId !== undefined && challengeId !== paid.challengeId)
    return 'The receipt is for another challenge.'
  if (externalId !== undefined && externalId !== paid.externalId)
    return 'The receipt has an externalId that the challenge does not have.'
  const at = Date.parse(timestamp)
  if (at > paid.now.getTime() + SKEW) return 'The receipt is from the future.'
  return at < (paid.sentAt ?? paid.now).getTime() - SKEW
    ? 'The receipt is older than the payment.'
    : undefined
}
