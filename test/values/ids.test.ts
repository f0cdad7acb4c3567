import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { firstIdAt, idTime, isIdShaped, newId } from '../../src/values/ids.ts'

describe('an id', () => {
  test('is a TypeID with the prefix of its record', () => {
    expect(newId('agent')).toMatch(/^agent_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  test('is unique and ascending, however fast ids are created', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('x'))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('holds the time at which it was made', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date(2 ** 48 - 1), noInvalidDate: true }), at => {
        expect(idTime(`${firstIdAt('card_request', at)}ye7k9v0c3q5r6t8w`)).toBe(at.getTime())
      }),
    )
    const before = Date.now()
    expect(idTime(newId('event'))).toBeGreaterThanOrEqual(before)
  })

  test('passes looksLikeId', () => expect(isIdShaped(newId('policyversion'))).toBe(true))

  test('has no character with a meaning in paths or queries', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), text => {
        expect(isIdShaped(text)).toBe(/^[A-Za-z0-9_.:@-]+$/.test(text) && text.length <= 128)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each(['', 'a b', 'a\n', 'a\0', 'é', "a'", 'a/b', 'a%', 'a'.repeat(129)])('cannot be %j', text =>
    expect(isIdShaped(text)).toBe(false),
  )
})
