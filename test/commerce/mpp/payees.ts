import { describe, expect, test } from '@jest/globals'
import { isIntentMerchant, otherMerchantMessage } from '../../../src/commerce/mpp/hosts.ts'

const isPaid = (merchant: string, url: string, isAllowed = false) =>
  isIntentMerchant(merchant, new URL(url), isAllowed)

describe('the payee of a machine payment', () => {
  test.each([
    ['shop.example.com', 'https://shop.example.com/buy'],
    ['example.com', 'https://shop.example.com/buy'],
    ['EXAMPLE.com', 'https://a.b.example.com./'],
    ['https://shop.example.com/books', 'https://shop.example.com:8443/buy'],
    ['Example', 'https://example.com/'],
    ['example', 'https://pay.example.co.uk/'],
    ['Example Shop', 'https://api.example-shop.de/'],
    ['Müller', 'https://müller.de/'],
    ['evil', 'https://evil.github.io/'],
    ['127.0.0.1', 'http://127.0.0.1:4021/'],
    ['127.0.0.1:4021', 'http://[::ffff:127.0.0.1]:4021/'],
    ['localhost', 'http://localhost:3000/'],
    ['[2001:db8::1]', 'https://[2001:db8::1]/'],
  ])('of an intent for %s may be %s', (merchant, url) => {
    expect(isPaid(merchant, url)).toBe(true)
  })

  test.each([
    ['shop.example.com', 'https://example.com/'],
    ['shop.example.com', 'https://shop.example.com.evil.example/'],
    ['shop.example.com', 'https://evilshop.example.com/'],
    ['example.com', 'https://notexample.com/'],
    ['co.uk', 'https://shop.co.uk/'],
    ['github.io', 'https://evil.github.io/'],
    ['GitHub', 'https://evil.github.io/'],
    ['Bookshop', 'https://bookshop.evil.example/'],
    ['Bookshop', 'https://evil.example/bookshop'],
    ['Bookshop', 'https://evil.example/'],
    ['com', 'https://shop.example.com/'],
    ['127.0.0.1', 'http://127.0.0.2/'],
    ['0.0.1', 'http://127.0.0.1/'],
    ['2130706433', 'http://127.0.0.1/'],
    ['...', 'https://example.com/'],
  ])('of an intent for %s is not %s', (merchant, url) => {
    expect(isPaid(merchant, url)).toBe(false)
  })

  test('may have any name if an allow rule covers the host, but never another merchant’s host', () => {
    expect(isPaid('Bookshop', 'https://evil.example/', true)).toBe(true)
    expect(isPaid('bookshop.example.com', 'https://evil.example/', true)).toBe(false)
  })

  test('is named by the refusal, with what to do', () => {
    expect(otherMerchantMessage('Bookshop', new URL('https://evil.example/'))).toMatch(
      /for Bookshop.*evil\.example is that merchant.*POST \/mpp\/protect/,
    )
    expect(otherMerchantMessage('a.example', new URL('https://evil.example/'))).toMatch(
      /for a\.example, not for evil\.example/,
    )
  })
})
