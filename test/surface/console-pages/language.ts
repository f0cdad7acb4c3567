import { expect, test } from '@jest/globals'
import { cents } from '../../../src/values/money.ts'
import { formatAmountIn, formatMinuteIn, negotiateLanguage } from '../../../src/web/language.ts'

test.each([
  [undefined, 'en'],
  ['', 'en'],
  ['de', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['DE-CH', 'de'],
  ['en-US,en;q=0.9,de;q=0.8', 'en'],
  ['fr,de;q=0.5', 'de'],
  ['fr,it', 'en'],
  ['*', 'en'],
  ['en;q=0,*;q=0.5', 'de'],
  ['de;q=0', 'en'],
  ['de;q=x,en;q=0.1', 'en'],
  ['den,dex', 'en'],
])('the page for Accept-Language %s is in %s', (accepted, language) => {
  expect(negotiateLanguage(accepted)).toBe(language)
})

test('only the first preferences of an endless list count', () => {
  expect(negotiateLanguage(`${'fr,'.repeat(31)}de`)).toBe('de')
  expect(negotiateLanguage(`${'fr,'.repeat(5_000)}de`)).toBe('en')
})

test('amounts and times are written as readers of the language expect, and exactly', () => {
  expect(formatAmountIn('en', cents(1_234_567_890_112_35n))).toBe('€\u00a01,234,567,890,112.35')
  expect(formatAmountIn('de', cents(1_250n)).replace(/\s/g, ' ')).toBe('12,50 €')
  const at = new Date('2026-07-01T22:30:00Z')
  expect(formatMinuteIn('en', at)).toBe('2 Jul 2026, 00:30 CEST')
  expect(formatMinuteIn('de', at)).toBe('2. Juli 2026, 00:30 MESZ')
})
