import { expect, test } from '@jest/globals'
import { formatOriginal, originalAmount, sumOriginals } from '../../src/values/original-amount.ts'

test.each([
  [1n, 'USD', '0.01', '$ 0.01'],
  [1_200n, 'USD', '12.00', '$ 12.00'],
  [123_456_789n, 'GBP', '1234567.89', '£ 1,234,567.89'],
  [3_000n, 'JPY', '3000', '¥ 3,000'],
  [12_345n, 'KWD', '12.345', 'KWD 12.345'],
  [120n, 'CHF', '1.20', 'CHF 1.20'],
])('%s of %s is written %s, and shown as %s', (units, currency, amount, shown) => {
  expect(originalAmount(units, currency)).toEqual({ amount, currency })
  expect(formatOriginal({ amount, currency })).toBe(shown)
})

test('a sum needs one currency, and every amount', () => {
  const dollars = (amount: string) => ({ amount, currency: 'USD' })
  expect(sumOriginals([dollars('0.05'), dollars('12.99')])).toEqual(dollars('13.04'))
  expect(sumOriginals([{ amount: '3000', currency: 'JPY' }])).toEqual({ amount: '3000', currency: 'JPY' })
  expect(sumOriginals([])).toBeNull()
  expect(sumOriginals([dollars('1.00'), undefined])).toBeNull()
  expect(sumOriginals([dollars('1.00'), { amount: '1.00', currency: 'GBP' }])).toBeNull()
})
