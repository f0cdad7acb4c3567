import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import {
  hasCardNumber,
  isCardNumberInId,
  passesLuhn,
  refuseCardNumbers,
} from '../../src/values/card-number.ts'
import { containsCardNumber } from '../../src/values/mask-card-numbers.ts'

const NUMBER = '4242424242424242'
/** Its middle is 16 digits in fours with the check digit of a card. */
const UUID = 'abcdabcd-4242-4242-8242-4243abcdabcd'
const body = refuseCardNumbers(
  z.object({ challenge: z.unknown(), note: z.string().optional() }),
  'send it to nobody.',
  { random: ['challenge'] },
)

describe('a member that is random', () => {
  test.each([
    ['within letters', `Payment id="x${NUMBER}y"`],
    ['of too few digits', 'Payment id="7992739871300"'],
    ['that begins as no card does', 'Payment id="7992739871300008"'],
  ])('may contain digits that pass as a card number: %s', (_, challenge) => {
    expect(body.safeParse({ challenge }).success).toBe(true)
  })

  test('may be a UUID whose groups pass as a card number', () => {
    expect(body.safeParse({ challenge: `id="${UUID}"`, note: `https://shop.example/${UUID}` }).success).toBe(
      true,
    )
  })

  test('is no UUID where it only looks like the beginning of one', () => {
    expect(body.safeParse({ challenge: 'a', note: UUID.slice(9) }).success).toBe(false)
  })

  test.each([
    ['alone', NUMBER],
    ['in groups', 'Payment id="4242 4242 4242 4242"'],
  ])('contains no number of a card that stands by itself: %s', (_, challenge) => {
    expect(body.safeParse({ challenge }).error?.issues[0]?.message).toMatch('looks like the number of a card')
  })

  test.each([
    ['another member', { challenge: 'a', note: `x${NUMBER}y` }],
    ['a member within it', { challenge: { id: `x${NUMBER}y` } }],
    ['a name', { challenge: 'a', [NUMBER]: 1 }],
  ])('does not excuse %s', (_, input) => {
    expect(body.safeParse(input).success).toBe(false)
  })
})

const isFoundIn = (text: string): boolean[] => [
  hasCardNumber(text),
  isCardNumberInId(text),
  containsCardNumber(text),
]
const NOWHERE = [false, false, false]
const EVERYWHERE = [true, true, true]

describe('a number with the check digit of a card', () => {
  test.each([
    ['the time in a key', 'k-7-1795711926658'],
    ['a digit before the time in a key', 'k-5-1795711926652'],
    ['an order', 'Order 391-4567890-1234507'],
    ['an invoice', 'Invoice 60291038-472900'],
    ['a ticket', 'Ticket 38291-03847-29107'],
    ['a phone number', 'call 491 5112 3456 703'],
    ['a number with the beginning, and too short', '493012345606'],
    ['a number with the length, and no such beginning', '7992739871300008'],
    ['a part of a longer number', '14242424242424242'],
    ['fours that are parted in two ways', '4242 4242-4242 4242'],
  ])('is %s: no card number', (_, text) => {
    expect(isFoundIn(text)).toEqual(NOWHERE)
  })

  test('in a key of a counter and the time is never one', () => {
    const keys = Array.from({ length: 20_000 }, (_, n) => `k-${n % 100}-${1_795_711_926_651 + n * 7_919}`)
    expect(keys.filter(key => isFoundIn(key).includes(true))).toEqual([])
  })

  const numbers = [
    '4242424242424242',
    '4000000000000000006',
    '5555555555554444',
    '2223003122003222',
    '2720990000000007',
    '378282246310005',
    '3530111333300000',
    '36227206271667',
    '6011111111111117',
    '6200000000000000000',
    '675900000000000000',
    '9999012345678907',
  ]
  const inGroups = (number: string, separator: string): string =>
    (number.length < 16 ? [4, 6, 5] : [4, 4, 4, 4, 3])
      .reduce<{ parts: string[]; at: number }>(
        ({ parts, at }, length) => ({ parts: [...parts, number.slice(at, at + length)], at: at + length }),
        { parts: [], at: 0 },
      )
      .parts.filter(part => part !== '')
      .join(separator)

  test.each(numbers)('is one with the beginning and length of a network: %s', number => {
    expect(passesLuhn(number)).toBe(true)
    for (const written of [number, inGroups(number, ' '), inGroups(number, '-')])
      for (const text of [written, `pay with ${written}, please`, `k-7-${written}`, `{"n":"${written}"}`])
        expect([text, ...isFoundIn(text)]).toEqual([text, ...EVERYWHERE])
  })

  test('of JSON is one, too', () => {
    expect(hasCardNumber({ amount: 4242424242424242 })).toBe(true)
    expect(hasCardNumber({ amount: -4242424242424242, at: 1795711926658, share: 4.25 })).toBe(true)
    expect(hasCardNumber({ at: 1795711926658, share: 4.25, big: 2 ** 60 })).toBe(false)
    expect(hasCardNumber({ shares: [6.333333333333333, 4.89516651234567, -6.283185307179586] })).toBe(false)
  })
})
