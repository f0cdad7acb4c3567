import { describe, expect, test } from '@jest/globals'
import { parseReferenceRates } from '../../../src/adapters/exchange-rates/ecb-file.ts'
import { referenceRatesFile } from '../../support/money/reference-rates.ts'

describe('the file of the ECB', () => {
  test('has the rates of one day, as they are written', () => {
    const file = referenceRatesFile('2026-11-25', { USD: '1.1600', JPY: '180', IDR: '19300.5' })
    expect(parseReferenceRates(file)).toEqual({
      date: '2026-11-25',
      rates: new Map([
        ['USD', '1.1600'],
        ['JPY', '180'],
        ['IDR', '19300.5'],
      ]),
    })
  })

  test.each([
    ['that is no XML', 'Service unavailable', /cannot be read/],
    ['that is empty', '', /cannot be read/],
    [
      'with a document type',
      `<!DOCTYPE a>${referenceRatesFile('2026-11-25', { USD: '1' })}`,
      /document type/,
    ],
    ['without a day', referenceRatesFile('soon', { USD: '1.16' }), /exactly one day/],
    [
      'of another namespace',
      referenceRatesFile('2026-11-25', { USD: '1.16' }).replace('ecb.int', 'evil.example'),
      /exactly one day/,
    ],
    [
      'without a usable rate',
      referenceRatesFile('2026-11-25', { USD: '0.000', usd: '1', EUR: '1' }),
      /without a readable rate/,
    ],
    ['of negative rates', referenceRatesFile('2026-11-25', { USD: '-1.16' }), /without a readable rate/],
    [
      'with one rate missing',
      referenceRatesFile('2026-11-25', { USD: 'N/A', JPY: '180' }),
      /without a readable/,
    ],
    ['of no day of the calendar', referenceRatesFile('2026-02-31', { USD: '1.16' }), /exactly one day/],
  ])('%s is refused', (_, text, failure) => {
    expect(parseReferenceRates(text)).toEqual({ failure: expect.stringMatching(failure) })
  })
})
