import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type EpcTransfer,
  epcQrContent,
  qrCodeSvg,
} from '../../../src/commerce/collect/payer-page/epc-code.ts'
import { makeCreditorReference } from '../../../src/values/creditor-reference.ts'
import { cents } from '../../../src/values/money.ts'

const transfer: EpcTransfer = {
  name: 'Agent Payments',
  iban: 'DE58999900010000000001',
  bic: 'AGPYDEF0XXX',
  amountCents: cents(1_250n),
  reference: 'RF540000000042',
}

const nameIn = (code = ''): string => code.split('\n')[5] ?? ''
const nameOf = (name: string): string => nameIn(epcQrContent({ ...transfer, name }))

describe('the content of the QR code', () => {
  test('the QR code follows EPC069-12 line by line', () => {
    expect(epcQrContent(transfer)?.split('\n')).toEqual([
      'BCD',
      '002',
      '1',
      'SCT',
      'AGPYDEF0XXX',
      'Agent Payments',
      'DE58999900010000000001',
      'EUR12.50',
      '',
      'RF540000000042',
    ])
    expect(epcQrContent({ ...transfer, bic: null })?.split('\n')[4]).toBe('')
  })

  test.each([
    [1n, 'EUR0.01'],
    [99_999_999_999n, 'EUR999999999.99'],
  ])('names the amount exactly: %s cents', (amount, line) => {
    expect(epcQrContent({ ...transfer, amountCents: cents(amount) })?.split('\n')[7]).toBe(line)
  })

  test.each([0n, -1n, 100_000_000_000n])('does not exist for %s cents, which no credit carries', amount => {
    expect(epcQrContent({ ...transfer, amountCents: cents(amount) })).toBeUndefined()
  })

  test.each([
    ['fits as it is', 'Bäckerei Übermut & Söhne', 'Bäckerei Übermut & Söhne'],
    ['has just the length that is allowed', 'x'.repeat(70), 'x'.repeat(70)],
    [
      'is too long: it ends after a word',
      `${'Verein der '.repeat(7)}Freunde`,
      `${'Verein der '.repeat(6)}Verei`.slice(0, 65),
    ],
    ['is too long right after a word', `${'x'.repeat(70)} GmbH`, 'x'.repeat(70)],
    ['is one word that is too long', 'x'.repeat(71), 'x'.repeat(70)],
    ['has characters of three bytes', '株'.repeat(70), '株'.repeat(70)],
    ['has more bytes than fit', '🏦'.repeat(70), '🏦'.repeat(64)],
    ['would be read as further lines', 'Evil\nDE00\r\nEUR1.00\u2028x', 'Evil DE00 EUR1.00 x'],
  ])('holds a name that %s', (_, name, expected) => {
    expect(nameOf(name)).toBe(expected)
  })

  test('does not exist without a name', () => {
    expect(epcQrContent({ ...transfer, name: ' \n ' })).toBeUndefined()
  })

  test('the QR code has at most 331 bytes and ten lines for any name, and can always be drawn', () => {
    const longest = { iban: `MT${'9'.repeat(32)}`, reference: makeCreditorReference('9'.repeat(21)) }
    const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(name, fc.bigInt(1n, 99_999_999_999n).map(cents), (name, amountCents) => {
        const code = epcQrContent({ ...transfer, ...longest, name, amountCents })
        if (code === undefined) return expect(name.replace(/[\s\p{Cc}]/gu, '')).toBe('')
        expect(Buffer.byteLength(code)).toBeLessThanOrEqual(331)
        expect(code.split('\n')).toHaveLength(10)
        expect([...nameIn(code)].length).toBeLessThanOrEqual(70)
        expect(qrCodeSvg(code, 'code')).toMatch(/^<svg /)
      }),
      { numRuns: 25 },
    )
  })
})

test('a drawing escapes its title and is dark on white', () => {
  const svg = qrCodeSvg('BCD', '<b>')
  expect(svg).toContain('<title>&lt;b&gt;</title>')
  expect(svg).toContain('fill="#fff"')
  expect(() => qrCodeSvg('x'.repeat(332), 'too much')).toThrow()
})
