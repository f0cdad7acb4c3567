import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { z } from 'zod'
import {
  addCents,
  atLeastZero,
  type Cents,
  cents,
  formatMoney,
  fractionOf,
  minOf,
  moneySchema,
  NO_CENTS,
  negateCents,
  remainderOf,
  roundCents,
  subtractCents,
  sumOf,
} from '../../src/values/money.ts'

const HIGHEST = 10_000_000_000_000n

const amounts = fc.bigInt({ min: 0n, max: HIGHEST }).map(cents)

/** Encodes an amount as JSON text; `received` decodes it. */
const sent = (amount: Cents): string => JSON.stringify(z.encode(moneySchema, amount))
const received = (text: string) => moneySchema.safeParse(JSON.parse(text))

describe('an amount of euros', () => {
  test.each([
    [0n, '€ 0.00'],
    [99_999n, '€ 999.99'],
    [100_000n, '€ 1,000.00'],
    [500_000n, '€ 5,000.00'],
    [123_456_789_01n, '€ 123,456,789.01'],
    [HIGHEST * 1_000_000n, '€ 100,000,000,000,000,000.00'],
    [-99_999n, '€ -999.99'],
    [-100_000n, '€ -1,000.00'],
  ])('of %s cents is written %s', (amount, text) => expect(formatMoney(cents(amount))).toBe(text))

  test('survives a round trip', () => {
    fc.assert(
      fc.property(amounts, amount => expect(received(sent(amount)).data).toBe(amount)),
      { numRuns: 1_000 },
    )
  })

  test('is read exactly, digit by digit', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 2 }), (amount, decimals) => {
        const whole = amount / 100n
        const rest = String(amount % 100n)
          .padStart(2, '0')
          .slice(0, decimals)
        const text = rest === '' ? String(whole) : `${whole}.${rest}`
        fc.pre(whole * 100n + BigInt(rest.padEnd(2, '0')) <= HIGHEST)
        expect(received(text).data).toBe(whole * 100n + BigInt(rest.padEnd(2, '0')))
      }),
      { numRuns: 1_000 },
    )
  })

  test('is written with at most two decimals', () => {
    fc.assert(
      fc.property(amounts, amount => expect(sent(amount)).toMatch(/^\d+(\.\d{1,2})?$/)),
      { numRuns: 1_000 },
    )
  })

  test('is read exactly or refused, for any number', () => {
    fc.assert(
      fc.property(fc.double(), amount => {
        const { data } = moneySchema.safeParse(amount)
        if (data !== undefined) expect(Number(sent(data))).toBe(amount === 0 ? 0 : amount)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    '0.001',
    '10.505',
    '0.30000000000000004',
    '1e-7',
    '-0.01',
    '1e21',
    '1e400',
    '100000000000.01',
    '"1"',
    'null',
  ])('%s is refused', text => expect(received(text).success).toBe(false))

  test.each([
    ['0', 0n],
    ['-0', 0n],
    ['1e2', 10_000n],
    ['0.10', 10n],
    ['4.35', 435n],
    ['1.005e3', 100_500n],
    ['100000000000', HIGHEST],
  ])('%s is %s cents', (text, amount) => expect(received(text).data).toBe(amount))

  test.each([
    [0n, '€ 0.00'],
    [5n, '€ 0.05'],
    [1_234n, '€ 12.34'],
    [-1_234n, '€ -12.34'],
    [-5n, '€ -0.05'],
  ])('%s cents are shown as %s', (amount, text) => expect(formatMoney(cents(amount))).toBe(text))
})

describe('the arithmetic of amounts', () => {
  const signed = fc.bigInt({ min: -HIGHEST, max: HIGHEST }).map(cents)

  test('is that of their cents', () => {
    fc.assert(
      fc.property(signed, signed, (one, other) => {
        const [a, b] = [BigInt(one), BigInt(other)]
        expect(addCents(one, other)).toBe(a + b)
        expect(subtractCents(one, other)).toBe(a - b)
        expect(negateCents(one)).toBe(-a)
        expect(sumOf([one, other, one])).toBe(a + b + a)
        expect(minOf(one, other)).toBe(a < b ? a : b)
        expect(atLeastZero(one)).toBe(a < 0n ? 0n : a)
        expect(remainderOf(one, other)).toBe(a > b ? a - b : 0n)
      }),
      { numRuns: 1_000 },
    )
    expect(sumOf([])).toBe(NO_CENTS)
  })

  test.each([
    ['down', 33n, 66n],
    ['half', 33n, 67n],
    ['up', 34n, 67n],
  ] as const)('rounds a third and two thirds of a euro %s', (rounding, oneThird, twoThirds) => {
    expect(fractionOf(cents(100n), [1n, 3n], rounding)).toBe(oneThird)
    expect(fractionOf(cents(100n), [2n, 3n], rounding)).toBe(twoThirds)
  })

  test('makes an amount of a computed number by rounding, of any other only if it is whole', () => {
    expect([roundCents(12.5), roundCents(-12.4), cents(12), cents('-12')]).toEqual([13n, -12n, 12n, -12n])
    expect(() => cents(12.5)).toThrow(RangeError)
  })
})
