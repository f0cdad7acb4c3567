import { describe, expect, test } from '@jest/globals'
import {
  buildMerchantRequest,
  merchantHeadersProblem,
  merchantRequestDigest,
  merchantRequestHeaders,
  urlWithoutQuery,
} from '../../../src/commerce/mpp/merchant-request.ts'

const url = 'https://shop.example.com/buy?key=secret#part'

describe('the request to a merchant', () => {
  test('is a GET; with a body a POST, and an object is sent as JSON', () => {
    expect(buildMerchantRequest({ url })).toEqual({ url, method: 'GET', headers: {}, body: null })
    expect(buildMerchantRequest({ url, body: 'a=1' })).toMatchObject({
      method: 'POST',
      body: 'a=1',
      headers: {},
    })
    expect(buildMerchantRequest({ url, body: { a: 1 }, method: 'PUT' })).toMatchObject({
      method: 'PUT',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json' },
    })
    const own = { 'Content-Type': 'application/ld+json' }
    expect(buildMerchantRequest({ url, body: {}, headers: own }).headers).toEqual(own)
  })

  test.each([
    ['Host', 'evil.example', /set by the connection/],
    ['connection', 'close', /set by the connection/],
    ['Content-Length', '0', /set by the connection/],
    ['transfer-encoding', 'chunked', /set by the connection/],
    ['Proxy-Authorization', 'Basic x', /set by the connection/],
    ['Payment-Authorization', 'Payment x', /belongs to the payment/],
    ['Accept-Payment', 'card/charge', /belongs to the payment/],
    ['X-Payment', 'x', /belongs to the payment/],
    ['Authorization', ' payment eyJ', /holds a payment/],
    ['a b', 'x', /is not a header name/],
    ['', 'x', /is not a header name/],
    ['x-a', 'one\r\nx-b: two', /plain ASCII/],
    ['x-a', 'ä', /plain ASCII/],
    ['x-a', 'x'.repeat(12_400), /more than 12288 characters/],
  ])('does not have the header %j: %j', (name, value, problem) => {
    expect(merchantHeadersProblem({ [name]: value })).toMatch(problem)
  })

  test('a request with a repeated header is refused, regardless of case', () => {
    expect(merchantHeadersProblem({ 'x-a': '1', 'X-A': '2' })).toMatch(/"X-A" occurs twice/)
  })

  test('may have other headers of the caller', () => {
    const headers = { Authorization: 'Bearer x', cookie: 'a=b', 'x-request-id': '1', accept: '*/*' }
    expect(merchantHeadersProblem(headers)).toBeUndefined()
    expect(merchantRequestHeaders(headers, 'authorization')).toEqual({
      cookie: 'a=b',
      'x-request-id': '1',
      accept: '*/*',
    })
    expect(merchantRequestHeaders(headers, 'payment-authorization')).toEqual(headers)
  })

  test('a request is identified by its digest, and shown without its query', () => {
    const one = { url, method: 'POST', body: 'a' } as const
    const others = [
      { ...one, body: 'b' },
      { ...one, body: null },
      { ...one, method: 'PUT' as const },
    ]
    expect(new Set([one, ...others].map(merchantRequestDigest)).size).toBe(4)
    expect(merchantRequestDigest(one)).toMatch(/^sha-256=[\w-]{43}$/)
    expect(urlWithoutQuery(new URL(url))).toBe('https://shop.example.com/buy')
  })
})
