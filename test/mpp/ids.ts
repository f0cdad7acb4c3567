import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { computeChallengeId, isOwnChallenge } from '../../src/mpp/index.ts'
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
    expect(computeChallengeId(secret, given)).toBe(hmac(bound))
  })

  test('is known again, and no other', () => {
    const own = { ...sample, id: computeChallengeId(secret, sample) }
    expect(isOwnChallenge(secret, own)).toBe(true)
    expect(isOwnChallenge(secret, { ...own, description: 'for people' })).toBe(true)
    expect(isOwnChallenge('another secret', own)).toBe(false)
    expect(isOwnChallenge(secret, { ...own, id: own.id.slice(1) })).toBe(false)
  })

  test('is no longer that of a challenge of which anything was changed', () => {
    const own = { ...sample, id: computeChallengeId(secret, sample) }
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
