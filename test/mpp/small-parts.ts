import { describe, expect, test } from '@jest/globals'
import {
  acceptedQuality,
  buildProblemDetails,
  contentDigest,
  isUnusableInput,
  matchesContentDigest,
  parseAcceptPayment,
  problemTypeAndTitle,
  toHeaderText,
} from '../../src/mpp/index.ts'

describe('Accept-Payment', () => {
  const accepted = (header: string, method = 'card', intent = 'charge') => {
    const read = parseAcceptPayment(header)
    return isUnusableInput(read) ? read.problem : acceptedQuality(read, method, intent)
  }

  test.each([
    ['card/charge', 1],
    [' Card/charge ; q=0.5 ', 0],
    ['tempo/charge, card/charge;q=0.5', 0.5],
    ['tempo/session', 0],
    ['*/*;q=0.1', 0.1],
    ['*/*, card/charge;q=0', 0],
    ['card/*;q=0.3, */charge;q=0.9', 0.3],
    ['card', 1],
    ['card ; q=0.5, *', 0.5],
    ['stripe', 0],
  ])('%s likes a charge by card: %s', (header, quality) => {
    expect(accepted(header)).toBe(quality)
  })

  test.each([
    '',
    'card/',
    'card/charge;q=2',
    'card/charge;q=0.1234',
    'card/charge;x=1',
    `${'a/b,'.repeat(51)}a/b`,
  ])('"%s" is refused', header => {
    expect(accepted(header)).toEqual(expect.any(String))
  })
})

describe('the digest of a body', () => {
  test('is that of RFC 9530', () => {
    expect(contentDigest('{"hello": "world"}')).toBe('sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:')
  })

  test.each([
    'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
    'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
    'SHA-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE',
  ])('%s fits', header => {
    expect(matchesContentDigest(header, '{"hello": "world"}')).toBe(true)
    expect(matchesContentDigest(header, '{"hello": "World"}')).toBe(false)
  })

  test.each(['', 'sha-512=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:', 'sha-256=::', 'sha-256=e30='])(
    '"%s" fits nothing',
    header => {
      expect(matchesContentDigest(header, '{"hello": "world"}')).toBe(false)
    },
  )
})

describe('text in a header', () => {
  test.each([
    ['Café für 5 €', 'Café für 5 EUR'],
    ['a — “b” …', 'a - "b" ...'],
    ['Dvořák', 'Dvorák'],
    ['☕ 日', '? ?'],
    ['line\r\nSet-Cookie: a', 'line  Set-Cookie: a'],
  ])('%j becomes %j', (text, written) => {
    expect(toHeaderText(text)).toBe(written)
  })
})

describe('a problem', () => {
  test('is named as the protocol names it', () => {
    expect(buildProblemDetails('payment-expired', 'Too late.')).toEqual({
      type: 'https://paymentauth.org/problems/payment-expired',
      title: 'Payment Expired',
      status: 402,
      detail: 'Too late.',
    })
    expect(problemTypeAndTitle('method-unsupported')).toEqual([
      'https://paymentauth.org/problems/method-unsupported',
      'Method Unsupported',
    ])
  })
})
