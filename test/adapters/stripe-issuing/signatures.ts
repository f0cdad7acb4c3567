import { describe, expect, test } from '@jest/globals'
import { addMs, minutes } from '../../../src/values/clock.ts'
import { requestedAt } from '../../support/cards/sandbox.ts'
import {
  anAuthorization,
  EVENTS_SECRET,
  eventOf,
  REAL_TIME_SECRET,
  signed,
  stripeAt,
} from '../../support/cards/stripe.ts'

const processor = stripeAt()
const body = eventOf('issuing_authorization.created', anAuthorization())
const read = (headers: Record<string, string>, text = body, now = requestedAt) =>
  processor.read(Buffer.from(text), headers, now)

describe('a message from Stripe', () => {
  test.each([
    ['real-time authorizations', REAL_TIME_SECRET],
    ['other events', EVENTS_SECRET],
  ])('is read when it is signed with the secret of %s', (_, secret) => {
    expect(read(signed(body, secret)).kind).toBe('message')
  })

  test('is read while Stripe signs with an old and a new secret', () => {
    const [time, signature] = String(signed(body)['stripe-signature']).split(',')
    const other = `v1=${'0'.repeat(64)}`
    expect(read({ 'stripe-signature': [time, other, signature, 'v0=1'].join(',') }).kind).toBe('message')
  })

  test('is recognized by its header, which proves nothing', () => {
    expect(processor.recognizes({ 'stripe-signature': 'x' })).toBe(true)
    expect(processor.recognizes({ 'x-service-signature': 'x' })).toBe(false)
    expect(read({ 'stripe-signature': 'x' }).kind).toBe('unsigned')
  })

  const valid = String(signed(body)['stripe-signature'])
  test.each([
    ['no signature', undefined],
    ['an empty one', ''],
    ['another secret’s', signed(body, 'whsec_of_somebody_else')['stripe-signature']],
    ['that of another body', signed(`${body} `)['stripe-signature']],
    ['one of another scheme', valid.replace('v1=', 'v0=')],
    ['one without a time', valid.replace(/t=\d+,/, '')],
    ['one of another time', valid.replace(/t=\d+/, 't=1795000000')],
    ['one that is cut', valid.slice(0, -2)],
    ['one with something behind it', `${valid}zz`],
    ['one that is no hexadecimal number', valid.replace(/v1=../, 'v1=zz')],
    ['a time that is no number', valid.replace(/t=\d+/, 't=soon')],
  ])('with %s is not read', (_, header) => {
    const headers = header === undefined ? {} : { 'stripe-signature': header }
    expect(read(headers)).toEqual({ kind: 'unsigned', reason: expect.stringMatching(/^\S.*\.$/) })
  })

  test.each([
    ['five minutes old', minutes(5), 'message'],
    ['older', minutes(5) + 1_000, 'unsigned'],
    ['from five minutes ahead', -minutes(5), 'message'],
    ['from farther ahead', -minutes(5) - 1_000, 'unsigned'],
  ])('that is %s is of the kind expected', (_, age, kind) => {
    expect(read(signed(body), body, addMs(requestedAt, age)).kind).toBe(kind)
  })

  test.each([
    ['no JSON', '{', 'The body is not JSON.'],
    ['an empty body', '', 'The body is not JSON.'],
    ['null', 'null', expect.stringMatching(/^event: /)],
    [
      'an event without its object',
      '{"id":"evt_1","type":"issuing_card.updated","created":1}',
      expect.stringMatching(/^data: /),
    ],
  ])('with a valid signature and %s is unreadable', (_, text, reason) => {
    expect(read(signed(text), text)).toEqual({ kind: 'unreadable', reason })
  })

  test('is never quoted in what is said about it', () => {
    const text = eventOf('issuing_authorization.request', anAuthorization({ card: 4_000_009_990_000_018 }))
    expect(JSON.stringify(read(signed(text), text))).not.toMatch(/4000009990000018/)
  })
})
