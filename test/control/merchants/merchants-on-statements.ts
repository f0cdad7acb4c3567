import { describe, expect, test } from '@jest/globals'
import { matcher, sameMerchant, samePayee } from '../../../src/control/merchants/matcher.ts'

describe('a pattern, compared with what statements write,', () => {
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
  ])('of a blocklist stops %j, too', merchant => {
    for (const pattern of ['Casino', 'SQ *CASINO', 'CASINO*77'])
      expect(matcher([pattern], { lookalikes: true })(merchant)).toBe(pattern)
    expect(matcher(['Casinox'], { lookalikes: true })(merchant)).toBeUndefined()
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
  ])(
    '%j of an allowlist, asked about %j, says %j; and so does what is bound to it',
    (pattern, merchant, admitted) => {
      expect(matcher([pattern])(merchant) === pattern).toBe(admitted)
      expect(sameMerchant(pattern, merchant)).toBe(admitted)
    },
  )

  test('that is an IBAN is an account, not a name', () => {
    const [iban, spaced] = ['DE89370400440532013000', 'de89 3704 0044 0532 0130 00']
    expect(matcher([spaced])('Anybody', iban)).toBe(spaced)
    expect(matcher([spaced])(iban)).toBeUndefined()
    expect(matcher([spaced], { lookalikes: true })(iban)).toBe(spaced)
    expect(
      matcher(['Shop', spaced], { lookalikes: true })('Anybody', 'FR7630006000011234567890189'),
    ).toBeUndefined()
    expect([samePayee(iban, 'Anybody', iban), samePayee(iban, iban, null)]).toEqual([true, false])
  })
})
