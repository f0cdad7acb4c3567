import { describe, expect, test } from '@jest/globals'
import { isSameMerchant, isSamePayee, payeeMatcher } from '../../../src/control/merchants/matcher.ts'

describe('a pattern compared with the text of a statement', () => {
  test.each([
    'PAYPAL *CASINO',
    'SQ *CASINO',
    'CASINO*1234',
    'PAYPAL *SQ *CASINO',
    'Bookshop*Casino',
    'CASINO GMBH 123 BERLIN',
    'PAYPAL *САSINO',
    'CASINO＊99',
    'Casino GmbH',
  ])('matches %j on a blocklist', merchant => {
    for (const pattern of ['Casino', 'SQ *CASINO', 'CASINO*77'])
      expect(payeeMatcher([pattern], { lookalikes: true })(merchant)).toBe(pattern)
    expect(payeeMatcher(['Casinox'], { lookalikes: true })(merchant)).toBeUndefined()
  })

  test.each([
    ['Bookshop', 'PAYPAL *BOOKSHOP', true],
    ['Bookshop', 'SQ *BOOKSHOP', true],
    ['Bookshop', 'BOOKSHOP*1234', true],
    ['Bookshop', 'Bookshop*Casino', false],
    ['Bookshop', 'PAYPAL *BOOKSHOP*CASINO', false],
    ['Bookshop', 'BOOKSHOP GMBH', false],
    ['Bookshop', 'PAYPAL *CASINO', false],
    ['PayPal', 'PAYPAL *EVIL', false],
    ['PayPal', 'PAYPAL *1234', false],
    ['PayPal', 'PAYPAL *', false],
    ['PAYPAL *BOOKSHOP', 'PP*BOOKSHOP', true],
    ['PAYPAL *BOOKSHOP', 'SQ *BOOKSHOP', false],
    ['PAYPAL *BOOKSHOP', 'BOOKSHOP', false],
    ['shop.example.com', 'SQ *SHOP.EXAMPLE.COM', true],
    ['Amazon', 'AMAZON SUPPORT SERVICES', false],
  ])('on an allowlist: %j matches %j: %j; a bound payee likewise', (pattern, merchant, isAllowed) => {
    expect(payeeMatcher([pattern])(merchant) === pattern).toBe(isAllowed)
    expect(isSameMerchant(pattern, merchant)).toBe(isAllowed)
  })

  test('that is an IBAN matches an account, not a name', () => {
    const iban = 'DE89370400440532013000'
    const spacedIban = 'de89 3704 0044 0532 0130 00'
    expect(payeeMatcher([spacedIban])('Anybody', iban)).toBe(spacedIban)
    expect(payeeMatcher([spacedIban])(iban)).toBeUndefined()
    expect(payeeMatcher([spacedIban], { lookalikes: true })(iban)).toBe(spacedIban)
    expect(
      payeeMatcher(['Shop', spacedIban], { lookalikes: true })('Anybody', 'FR7630006000011234567890189'),
    ).toBeUndefined()
    expect([isSamePayee(iban, 'Anybody', iban), isSamePayee(iban, iban, null)]).toEqual([true, false])
  })
})
