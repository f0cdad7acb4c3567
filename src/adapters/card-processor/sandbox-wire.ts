import { z } from 'zod'
import type { CardMessage } from '../../ports/card-processor.ts'
import { instant } from '../../values/clock.ts'
import { cents, centsSchema } from '../../values/money.ts'

const MAX_ASKS = 100
/** More than every real message: an outcome with a hundred requests has 5 KB. */
const MAX_BYTES = 65_536

/** PostgreSQL stores neither U+0000 nor lone surrogates. */
const text = (longest: number) =>
  z
    .string()
    .max(longest)
    .refine(given => given.isWellFormed() && !given.includes('\0'), 'a character that cannot be used')

const name = text(200).min(1)

/** Cents as text, so that no JSON reader makes a fraction of them. */
export const centsText = z.codec(z.string().regex(/^(0|[1-9]\d{0,12})$/), centsSchema, {
  decode: cents,
  encode: String,
})

const merchant = z.strictObject({
  descriptor: text(200),
  mcc: z
    .string()
    .regex(/^\d{4}$/)
    .nullable(),
  /** Messages of earlier versions have no city. */
  city: text(200).nullable().default(null),
  country: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable(),
  url: text(2_000).nullable(),
  networkTokenId: name.nullable(),
})

const original = z
  .strictObject({
    amount: z.string().regex(/^\d{1,15}(\.\d{2,3})?$/),
    currency: z.string().regex(/^[A-Z]{3}$/),
  })
  .optional()

const ask = z.strictObject({ amountCents: centsText, approved: z.boolean(), original })

const content = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('authorization'),
    authorizationId: name,
    ask: z.int().min(0).max(MAX_ASKS),
    amountCents: centsText,
    partialAllowed: z.boolean(),
    merchant,
    original,
  }),
  z.strictObject({
    kind: z.literal('reversal'),
    authorizationId: name,
    amountCents: centsText.nullable(),
  }),
  z.strictObject({ kind: z.literal('expiry'), authorizationId: name }),
  z.strictObject({
    kind: z.literal('clearing'),
    clearingId: name,
    authorizationId: name.nullable(),
    amountCents: centsText,
    final: z.boolean(),
    merchant,
    original,
  }),
  z.strictObject({
    kind: z.literal('refund'),
    refundId: name,
    authorizationId: name.nullable(),
    amountCents: centsText,
    merchant,
    original,
  }),
  z.strictObject({
    kind: z.literal('outcome'),
    authorizationId: name,
    asks: z.array(ask).min(1).max(MAX_ASKS).readonly(),
    merchant,
  }),
  z.strictObject({ kind: z.literal('number_closed'), reason: text(500) }),
  z.strictObject({
    kind: z.literal('shipped'),
    carrier: name.nullable(),
    trackingNumber: name.nullable(),
  }),
  z.strictObject({
    kind: z.literal('mobile_wallet'),
    tokenId: name,
    wallet: z.enum(['apple_pay', 'google_pay', 'samsung_pay', 'other']),
    status: z.enum(['requested', 'active', 'suspended', 'deleted']),
  }),
  z.strictObject({
    kind: z.literal('dispute'),
    disputeId: name,
    says: z.enum(['credited', 'won', 'lost']),
    amountCents: centsText.nullable(),
  }),
])

const Message = z.strictObject({ id: name, processorCardId: name, sentAt: instant, content })

export const encodeCardMessage = (message: CardMessage): string => JSON.stringify(z.encode(Message, message))

/** The message, or which member is wrong. Never quotes the input: it may be a card number. */
export function parseCardMessage(body: Uint8Array): CardMessage | { readonly problem: string } {
  if (body.length > MAX_BYTES) return { problem: `The body has more than ${MAX_BYTES} bytes.` }
  const json = jsonOf(body)
  if (json === undefined) return { problem: 'The body is not JSON.' }
  const { data, error } = Message.safeParse(json)
  if (data) return data
  const [issue] = error.issues
  const member = issue?.path.join('.') || 'body'
  return {
    problem: `${member}: ${issue?.code === 'unrecognized_keys' ? 'a member that is not known' : issue?.message}`,
  }
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}
