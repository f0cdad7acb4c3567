import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { containsCardNumber, maskCardNumbers, maskCardNumbersIn } from '../../src/values/mask-card-numbers.ts'

describe('a card number in a text', () => {
  test.each([
    ['4242424242424242', '************4242'],
    ['4242 4242 4242 4242', '**** **** **** 4242'],
    ['4242-4242-4242-4242', '****-****-****-4242'],
    ['paid by 5555555555554444.', 'paid by ************4444.'],
    ['{"pan":"378282246310005"}', '{"pan":"***********0005"}'],
    ['number=9999012345678907&cvc=742', 'number=************8907&cvc=742'],
    ['4242 4242 4242 4242 12/30 123', '**** **** **** 4242 12/30 123'],
    ['4242424242424242 123', '************4242 123'],
    ['30 4242424242424242', '30 ************4242'],
    ['6011111111111117\n4242424242424242', '************1117\n************4242'],
    ['36227206271667', '**********1667'],
    ['3622 720627 1667', '**** ****** 1667'],
    ['6759 0000 0000 0000 00', '**** **** **** **00 00'],
  ])('%j is given as %j', (text, expected) => {
    expect(maskCardNumbers(text)).toBe(expected)
  })

  test.each([
    '',
    'order 4242424242424241',
    '1763750000000000',
    '2026-11-21 18:43:51 2026-11-21 18:43:52',
    'a4242424242424242',
    '4242424242424242f',
    '42424242424242424242424242424242',
    'DE89370400440532013000',
    'BE68 5390 0754 7034',
    'GB29 NWBK 6016 1331 9268 19',
    'FR76 3000 6000 0112 3456 7890 189',
    '4242 4242 4242',
    'Order 391-4567890-1234507',
    'Ticket 38291-03847-29107',
  ])('is none in %j, which stays as it is', text => {
    expect(maskCardNumbers(text)).toBe(text)
  })

  test('is not seen in a UUID whose groups look like one', () => {
    const text = 'nonce abcdabcd-4242-4242-8242-4243abcdabcd'
    expect(maskCardNumbers(text)).toBe(text)
    expect(maskCardNumbers(text.slice(15, -8))).toBe('****-****-****-4243')
  })

  test('right behind an account number is seen', () => {
    expect(maskCardNumbers('BE68 5390 0754 7034 4242 4242 4242 4242')).toBe(
      'BE68 5390 0754 7034 **** **** **** 4242',
    )
  })

  test('that was cut off is not left half readable', () => {
    expect(maskCardNumbers('of 4242 4242 42', { isCut: true })).toBe('of **** **** **')
    expect(maskCardNumbers('of 4242 4242 42')).toBe('of 4242 4242 42')
  })

  test('is masked in any text, and nothing else changes', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const [left, right] = [before.replace(/[\da-z]/gi, ''), after.replace(/[\da-z]/gi, '')]
        const text = `${left}|4242424242424242|${right}`
        expect(maskCardNumbers(text)).toBe(`${left}|************4242|${right}`)
      }),
    )
  })

  test('is masked though very many numbers stand before it', () => {
    const text = `${'424 '.repeat(30_000)}/4242424242424242`
    expect(maskCardNumbers(text)).toMatch(/\/\*{12}4242$/)
  })

  test.each([
    ['digits', (length: number) => '4'.repeat(length)],
    ['digits apart', (length: number) => '4 '.repeat(length / 2)],
    ['digits and spaces', (length: number) => `4242${' '.repeat(60)}`.repeat(length / 64)],
    ['groups', (length: number) => '4242 '.repeat(length / 5)],
    ['numbers', (length: number) => '4242424242424242,'.repeat(length / 17)],
    ['account numbers', (length: number) => 'FR76 3000 6000 0112 3456 7890 189 '.repeat(length / 34)],
  ])('is looked for in linear time among %s', (_, textOf) => {
    const time = (length: number): number => {
      const text = textOf(length)
      const runs = Array.from({ length: 5 }, () => {
        const before = process.cpuUsage()
        maskCardNumbers(text)
        const { user, system } = process.cpuUsage(before)
        return user + system
      })
      return Math.min(...runs)
    }
    time(65_536)
    expect(time(1_048_576)).toBeLessThan(Math.max(time(65_536) * 64, 20_000))
  })
})

describe('a card number in a value', () => {
  test('is masked in texts, numbers and names, at any depth', () => {
    const number = 4242424242424242
    expect(
      maskCardNumbersIn({ a: [{ '4242424242424242': number }], b: '4242424242424242', c: null }),
    ).toEqual({
      a: [{ '************4242': '************4242' }],
      b: '************4242',
      c: null,
    })
  })

  test('is masked where a number of JSON has lost its last digits', () => {
    const [value] = JSON.parse('[9999012345678907]')
    expect(String(maskCardNumbersIn(value))).toMatch(/^\*{12}\d{4}$/)
    expect(maskCardNumbersIn([1763750000000, 4.25, 2 ** 60, true])).toEqual([
      1763750000000,
      4.25,
      2 ** 60,
      true,
    ])
  })

  test('is said to be there', () => {
    expect(containsCardNumber({ reference: '4242 4242 4242 4242' })).toBe(true)
    expect(containsCardNumber({ reference: 'order-1', amount: 20 })).toBe(false)
  })
})
