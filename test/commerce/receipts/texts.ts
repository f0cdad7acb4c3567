import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { extractReceiptFacts } from '../../../src/commerce/receipts/read-text.ts'
import { chooseReceiptMatch, receiptHeadLines } from '../../../src/commerce/receipts/score.ts'
import { cents } from '../../../src/values/money.ts'
import { quickestOf } from '../../support/longest-turn.ts'

describe('the text of a receipt', () => {
  test.each<[string, object]>([
    [
      'Café Nord\n20.11.2026\nZwischensumme 10,00\nMwSt 19% 1,90\nGesamtbetrag 11,90 €',
      { total: '11.90', currency: 'EUR', date: '2026-11-20' },
    ],
    [
      'Invoice\nNovember 3, 2026\nSubtotal $1,000.00\nTotal due\n$1,190.00',
      { total: '1190.00', currency: 'USD', date: '2026-11-03' },
    ],
    [
      'FACTURE\n3 novembre 2026\nTotal HT 100,00\nTotal TTC 1 120,50 EUR\nTVA FR 12345678901',
      { total: '1120.50', date: '2026-11-03' },
    ],
    ["Bon\n03/02/2026\nTotal CHF 1'234.50", { total: '1234.50', currency: 'CHF', date: '2026-02-03' }],
    ['Total 12.50\nTotal 99.00', { total: '99.00', currency: null }],
    ['Order 4711\nVAT DE123456789\n2026-02-30', { total: null, date: null, vatNumber: 'DE123456789' }],
    ['', { total: null, currency: null, date: null, merchant: null, vatNumber: null }],
  ])('%j is read', (text, facts) => expect(extractReceiptFacts(text)).toMatchObject(facts))

  test('is kept by the lines at its head, without what surrounds them, short scraps and long paragraphs', () => {
    const text = `  Bookshop GmbH \n \n ab  \n\tTotal 25,00 EUR\n${'x'.repeat(100)}\n${'line\n'.repeat(40)}`
    expect(receiptHeadLines(text).split('\n')).toEqual([
      'Bookshop GmbH',
      'Total 25,00 EUR',
      ...Array(28).fill('line'),
    ])
  })

  test('of nothing but digits is read as fast as any other', () => {
    const digits = `Total ${'111 '.repeat(12_500)}`
    expect(quickestOf(3, () => extractReceiptFacts(digits))).toBeLessThan(250)
  })

  test('any text is read without an error and within bounds', () => {
    const pieces = fc.constantFrom(
      'Total ',
      '12,50',
      '1.',
      '.',
      ' ',
      '\n',
      '€',
      'DE',
      '9',
      '31.12.2026',
      'Jan',
      '2026-',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map(list => list.join('')),
        ),
        text => {
          const { total, date } = extractReceiptFacts(text)
          expect(total ?? '0.00').toMatch(/^\d+\.\d\d$/)
          expect(date ?? '2026-01-01').toMatch(/^\d{4}-\d\d-\d\d$/)
        },
      ),
    )
  })

  test('of the longest kind holds the event loop for less than 50 ms', () => {
    const longest = 'Total 1.111.111,1 Jan 31. 12/'.repeat(1_800)
    const amounts = `Total ${'1.00 '.repeat(10_000)}`
    for (const text of [longest, amounts])
      expect(quickestOf(10, () => extractReceiptFacts(text))).toBeLessThan(50)
  })

  test.each([
    ['Total 12.00 USD', 'match'],
    ['Total 11.20 EUR', 'match'],
    ['Total 12.00 EUR', 'no match'],
    ['Total 11.20 USD', 'no match'],
    ['Total 12.00 GBP', 'no match'],
  ])('%s is a %s for a payment of $ 12.00 that cost € 11.20', (total, outcome) => {
    const at = new Date('2026-11-20T12:00:00Z')
    const payment = {
      transactionId: 'txn_1',
      amountCents: cents(1_120n),
      original: { amount: '12.00', currency: 'USD' },
      merchant: 'Bookshop',
      at,
      hasReceipt: false,
      hasVatNumber: false,
    }
    const facts = extractReceiptFacts(`Bookshop\n2026-11-20\n${total}`)
    const { match } = chooseReceiptMatch('Bookshop', facts, [payment], at)
    expect(match === undefined ? 'no match' : 'match').toBe(outcome)
  })

  test('is not matched if another payment is as likely', () => {
    const at = new Date('2026-11-20T12:00:00Z')
    const payment = fc.record({
      transactionId: fc.uuid(),
      amountCents: fc.constantFrom(cents(2_500n), cents(2_600n)),
      original: fc.constant(null),
      merchant: fc.constantFrom('Bookshop', 'Fish'),
      at: fc.constantFrom(at, new Date('2026-11-18T12:00:00Z')),
      hasReceipt: fc.boolean(),
      hasVatNumber: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(payment, { maxLength: 8 }), payments => {
        const facts = extractReceiptFacts('Bookshop\n2026-11-20\nTotal 25.00 EUR')
        const { match, suggestions } = chooseReceiptMatch('Bookshop', facts, payments, at)
        const twins = payments.filter(
          ({ amountCents, merchant, hasVatNumber }) =>
            amountCents === 2_500n && (merchant === 'Bookshop' || hasVatNumber),
        )
        if (match) expect(match.score).toBeGreaterThanOrEqual(80)
        if (twins.length === 0) expect(match).toBeUndefined()
        expect(suggestions.length).toBeLessThanOrEqual(5)
      }),
    )
  })
})
