import fc from 'fast-check'
import type { CardMessage, CardMessageContent } from '../../../src/ports/card-processor.ts'
import { cents } from '../../../src/values/money.ts'

const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const amount = fc.bigInt(0n, 9_999_999_999_999n).map(cents)
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const kind = <K extends string>(value: K) => fc.constant(value)

const merchant = fc.record({
  descriptor: fc.string({ unit: 'grapheme', maxLength: 40 }),
  mcc: orNull(fc.stringMatching(/^\d{4}$/)),
  city: orNull(fc.string({ unit: 'grapheme', maxLength: 13 })),
  country: orNull(fc.stringMatching(/^[A-Z]{2}$/)),
  url: orNull(fc.webUrl()),
  networkTokenId: orNull(name),
})

const content: fc.Arbitrary<CardMessageContent> = fc.oneof(
  fc.record({
    kind: kind('authorization'),
    authorizationId: name,
    ask: fc.integer({ min: 0, max: 100 }),
    amountCents: amount,
    partialAllowed: fc.boolean(),
    merchant,
  }),
  fc.record({ kind: kind('reversal'), authorizationId: name, amountCents: orNull(amount) }),
  fc.record({ kind: kind('expiry'), authorizationId: name }),
  fc.record({
    kind: kind('clearing'),
    clearingId: name,
    authorizationId: orNull(name),
    amountCents: amount,
    final: fc.boolean(),
    merchant,
  }),
  fc.record({
    kind: kind('refund'),
    refundId: name,
    authorizationId: orNull(name),
    amountCents: amount,
    merchant,
  }),
  fc.record({
    kind: kind('outcome'),
    authorizationId: name,
    asks: fc.array(fc.record({ amountCents: amount, approved: fc.boolean() }), {
      minLength: 1,
      maxLength: 5,
    }),
    merchant,
  }),
  fc.record({ kind: kind('number_closed'), reason: name }),
  fc.record({ kind: kind('shipped'), carrier: orNull(name), trackingNumber: orNull(name) }),
  fc.record({
    kind: kind('mobile_wallet'),
    tokenId: name,
    wallet: fc.constantFrom('apple_pay', 'google_pay', 'samsung_pay', 'other'),
    status: fc.constantFrom('requested', 'active', 'suspended', 'deleted'),
  }),
)

export const anyMessage: fc.Arbitrary<CardMessage> = fc.record({
  id: name,
  processorCardId: name,
  sentAt: fc.date({
    min: new Date('0001-01-01T00:00:00Z'),
    max: new Date('9999-12-31T00:00:00Z'),
    noInvalidDate: true,
  }),
  content,
})
