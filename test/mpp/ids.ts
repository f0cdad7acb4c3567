import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { canonicalJson, challengeId, isOwnChallenge } from '../../src/mpp/index.ts'
import { sample } from './samples.ts'

const secret = 'a secret of at least thirty-two bytes'
const hmac = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url')

describe('the id of a challenge', () => {
  const { realm, method, intent, request } = sample
  const offer = { realm, method, intent, request }

  test.each([
    ['nothing optional', offer, `${realm}|card|charge|${request}|||`],
    ['a time', { ...offer, expires: 'T' }, `${realm}|card|charge|${request}|T||`],
    ['a digest', { ...offer, digest: 'D' }, `${realm}|card|charge|${request}||D|`],
    ['opaque', { ...offer, opaque: 'O' }, `${realm}|card|charge|${request}|||O`],
    [
      'a header before opaque',
      { ...offer, header: 'H', opaque: 'O' },
      `${realm}|card|charge|${request}|||H|O`,
    ],
    ['a header alone', { ...offer, header: 'H' }, `${realm}|card|charge|${request}|||H|`],
    ['the usual header', { ...offer, header: 'authorization' }, `${realm}|card|charge|${request}|||`],
  ])('binds %s, each in its place', (_, given, bound) => {
    expect(challengeId(secret, given)).toBe(hmac(bound))
  })

  test('is known again, and no other', () => {
    const own = { ...sample, id: challengeId(secret, sample) }
    expect(isOwnChallenge(secret, own)).toBe(true)
    expect(isOwnChallenge(secret, { ...own, description: 'for people' })).toBe(true)
    expect(isOwnChallenge('another secret', own)).toBe(false)
    expect(isOwnChallenge(secret, { ...own, id: own.id.slice(1) })).toBe(false)
  })

  test('is no longer that of a challenge of which anything was changed', () => {
    const own = { ...sample, id: challengeId(secret, sample) }
    const names = ['id', 'realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const
    const property = fc.property(
      fc.constantFrom(...names),
      fc.nat(),
      fc.integer({ min: 33, max: 123 }),
      (name, at, by) => {
        const was = own[name] ?? ''
        const place = at % was.length
        const now = was.slice(0, place) + String.fromCharCode(by) + was.slice(place + 1)
        fc.pre(now !== was)
        expect(isOwnChallenge(secret, { ...own, [name]: now })).toBe(false)
      },
    )
    fc.assert(property)
    expect(isOwnChallenge(secret, { ...own, header: 'X-Payment' })).toBe(false)
  })
})

describe('canonical JSON', () => {
  test('is that of the example in RFC 8785', () => {
    const text = String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`
    expect(canonicalJson(JSON.parse(text))).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('sorts members by their UTF-16 code units', () => {
    const given = { '€': 1, '\r': 2, '\ufb33': 3, '1': 4, '😀': 5, '\u0080': 6, ö: 7 }
    expect(Object.values(JSON.parse(canonicalJson(given)) as object)).toHaveLength(7)
    expect(canonicalJson(given)).toBe('{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}')
  })

  test('says the same in one way, whatever the order', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const text = canonicalJson(value)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
        expect(canonicalJson(reversed(value))).toBe(text)
      }),
    )
  })

  test.each([
    ['half of a pair', '\ud83d'],
    ['infinity', Number.POSITIVE_INFINITY],
    ['a bigint', 1n],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson({ value })).toThrow(TypeError)
  })
})

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, member]) => [name, reversed(member)]),
  )
}
