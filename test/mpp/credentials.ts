import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  credentialDigest,
  encodeChallengeRequest,
  isPaymentScheme,
  parseCredential,
  readCardPayload,
  serializeCredential,
  toBase64url,
} from '../../src/mpp/index.ts'
import { sample } from './samples.ts'

const payload = {
  encryptedPayload: 'a.b.c.d.e',
  network: 'visa',
  panLastFour: '4242',
  panExpirationMonth: '12',
  panExpirationYear: '2030',
}
const encoded = (value: unknown): string => `Payment ${toBase64url(JSON.stringify(value))}`

describe('a credential', () => {
  test('is what was written, whatever it holds', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    const made = fc.record({
      challenge: fc.record({
        id: text,
        realm: text,
        method: text,
        intent: text,
        request: text,
        opaque: text,
      }),
      source: text,
      payload: fc.dictionary(
        text.filter(name => name !== '__proto__'),
        fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)) as unknown),
      ),
    })
    fc.assert(
      fc.property(made, credential =>
        expect(parseCredential(serializeCredential(credential))).toEqual(credential),
      ),
    )
  })

  test('echoes opaque as a text or as the object in it', () => {
    const opaque = { nonce: 'Zm9v', a: 'b' }
    const given = { challenge: { ...sample, opaque }, payload }
    expect(parseCredential(encoded(given))).toMatchObject({
      challenge: { opaque: encodeChallengeRequest(opaque) },
    })
  })

  test('keeps no other member of the challenge', () => {
    const read = parseCredential(encoded({ challenge: { ...sample, meta: { a: 'b' } }, payload }))
    expect(read).toEqual({ challenge: sample, payload })
  })

  test.each([
    ['another scheme', 'Bearer abc', /not contain exactly one credential/],
    ['two credentials', 'Payment e30, Payment e30', /not contain exactly one credential/],
    ['padding', 'Payment e30=', /base64url/],
    ['no JSON', 'Payment e3', /base64url|JSON/],
    ['a list', encoded([]), /not a JSON object/],
    ['no challenge', encoded({ payload }), /echoes no challenge/],
    ['no payload', encoded({ challenge: sample }), /no payload/],
    ['an empty id', encoded({ challenge: { ...sample, id: '' }, payload }), /no id/],
    ['a time that is a number', encoded({ challenge: { ...sample, expires: 7 }, payload }), /expires/],
    ['an opaque of numbers', encoded({ challenge: { ...sample, opaque: { a: 1 } }, payload }), /opaque/],
    [
      'half a character in opaque',
      encoded({ challenge: { ...sample, opaque: { a: '\ud83d' } }, payload }),
      /opaque/,
    ],
    ['a source that is an object', encoded({ challenge: sample, payload, source: {} }), /source/],
  ])('is refused with %s', (_, value, why) => {
    expect(parseCredential(value)).toMatchObject({ problem: expect.stringMatching(why) })
  })

  test('is known by its digest, however scheme and spaces are written', () => {
    const value = serializeCredential({ challenge: sample, payload })
    const same = [value, value.replace('Payment ', 'payment   '), ` ${value} `]
    expect(new Set(same.map(credentialDigest)).size).toBe(1)
    expect(
      credentialDigest(serializeCredential({ challenge: sample, payload: { ...payload, x: 1 } })),
    ).not.toBe(credentialDigest(value))
    expect(same.every(isPaymentScheme)).toBe(true)
    expect(['Paymentx', 'Bearer Payment x', ''].some(isPaymentScheme)).toBe(false)
  })
})

describe('the payload of a card', () => {
  const read = (changed: object) =>
    readCardPayload({ challenge: sample, payload: { ...payload, ...changed } })

  test('is the token with what is printed on the card', () => {
    expect(read({ more: 1 })).toEqual(payload)
    expect(read({ paymentAccountReference: 'V0010013020217426736036' })).toHaveProperty(
      'paymentAccountReference',
    )
  })

  test.each([
    ['four parts', { encryptedPayload: 'a.b.c.d' }, /not a compact JWE/],
    ['a token without end', { encryptedPayload: `${'a'.repeat(20_000)}.b.c.d.e` }, /not a compact JWE/],
    ['a network in capitals', { network: 'VISA' }, /network/],
    ['three digits', { panLastFour: '424' }, /panLastFour/],
    ['a thirteenth month', { panExpirationMonth: '13' }, /panExpirationMonth/],
    ['no year', { panExpirationYear: undefined }, /panExpirationYear/],
    ['an account that is no text', { paymentAccountReference: 7 }, /paymentAccountReference/],
  ])('is refused with %s', (_, changed, why) => {
    expect(read(changed)).toMatchObject({ problem: expect.stringMatching(why) })
  })
})
