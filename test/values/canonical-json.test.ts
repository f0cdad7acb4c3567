import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { canonicalJson } from '../../src/values/canonical-json.ts'

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
