import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { looksLikeId, newId } from '../../src/values/ids.ts'

describe('an id', () => {
  test('says what it names, in the form of a TypeID', () => {
    expect(newId('agent')).toMatch(/^agent_[0-7][0-9a-hjkmnp-tv-z]{25}$/)
  })

  test('is unique and rises, however fast they are made', () => {
    const ids = Array.from({ length: 10_000 }, () => newId('x'))
    expect(ids.toSorted()).toEqual(ids)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('of ours looks like one', () => expect(looksLikeId(newId('policyversion'))).toBe(true))

  test('has no character that means something elsewhere', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 140 }), text => {
        expect(looksLikeId(text)).toBe(/^[A-Za-z0-9_.:@-]+$/.test(text) && text.length <= 128)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each(['', 'a b', 'a\n', 'a\0', 'é', "a'", 'a/b', 'a%', 'a'.repeat(129)])('%j names nothing', text =>
    expect(looksLikeId(text)).toBe(false),
  )
})
