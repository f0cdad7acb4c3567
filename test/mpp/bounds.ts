import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  credentialDigest,
  decodeChargeRequest,
  isUnusableInput,
  matchesContentDigest,
  merchantKeyProblem,
  parseAcceptPayment,
  parseChallenges,
  parseCredential,
  parseReceipt,
  readCardDetails,
  readCardPayload,
  toBase64url,
  toHeaderText,
} from '../../src/mpp/index.ts'
import { header, minimal, sample } from './samples.ts'

/** Inputs for which a backtracking reader takes seconds. */
const hostile: readonly (readonly [string, string])[] = [
  ['"'.repeat(16_384), 'quotes'],
  ['\\'.repeat(16_384), 'backslashes'],
  [`Payment a="${'\\'.repeat(16_384)}`, 'an endless escape'],
  [`Payment a="${'\\u12'.repeat(4_096)}`, 'halves of escapes'],
  [' '.repeat(16_384), 'spaces'],
  [`Payment${' '.repeat(16_384)}`, 'spaces after the scheme'],
  [`Payment ${'a'.repeat(16_384)}`, 'one name'],
  [`Payment ${'a='.repeat(8_192)}`, 'equals signs'],
  [`Payment ${'a=,'.repeat(5_461)}`, 'empty values'],
  [`Payment ${'a=b,'.repeat(4_096)}`, 'one parameter many times'],
  [','.repeat(16_384), 'commas'],
  ['Payment,'.repeat(2_048), 'schemes'],
  [`${'a '.repeat(8_192)}"`, 'names in a row'],
]

/** JSON too deep for a recursive reader. */
const deep = toBase64url(`{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}`)

/** Every function that reads input from outside. */
const read = (text: string, value: unknown): readonly unknown[] => {
  const request = decodeChargeRequest({ ...sample, request: text })
  const credential = parseCredential(text)
  return [
    parseChallenges([text, `Payment ${text}`]),
    request,
    isUnusableInput(request) ? null : readCardDetails(request),
    readCardDetails({
      amount: 1n,
      currency: 'eur',
      methodDetails: { encryptionJwk: value, acceptedNetworks: value },
    }),
    credential,
    parseCredential(`Payment ${text}`),
    parseCredential(`Payment ${toBase64url(JSON.stringify({ challenge: value, payload: value }) ?? '')}`),
    readCardPayload({ challenge: sample, payload: { encryptedPayload: value, network: text } }),
    parseReceipt(text),
    parseReceipt(toBase64url(JSON.stringify(value) ?? '')),
    merchantKeyProblem(value),
    parseAcceptPayment(text),
    matchesContentDigest(text, text),
    credentialDigest(text),
    toHeaderText(text),
  ]
}

describe('text from outside', () => {
  test('never crashes what reads it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), fc.jsonValue(), (text, value) => {
        expect(read(text, value)).toHaveLength(15)
      }),
    )
  })

  test('never crashes the reader of headers, made of the pieces of a header', () => {
    const piece = fc.constantFrom(
      'Payment',
      ' ',
      ',',
      '=',
      '"',
      '\\',
      'id',
      'realm',
      '\\u00',
      'e30',
      'Bearer',
      '\t',
      '==',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), pieces => {
        const { challenges, problems } = parseChallenges([pieces.join('')])
        expect(challenges.every(({ id }) => id !== '')).toBe(true)
        expect(problems.length).toBeLessThan(42)
      }),
    )
  })

  test.each(hostile)('of 16 KiB is read to an end: %#', text => {
    expect(read(text, text)).toHaveLength(15)
  })

  test('nested without end is refused', () => {
    expect(decodeChargeRequest({ ...sample, request: deep })).toMatchObject({
      problem: expect.stringContaining('16384'),
    })
    expect(read(deep, 'x')).toHaveLength(15)
  })

  test('with 10,000 challenges is read up to the 64th', () => {
    const many = Array.from({ length: 10_000 }, () => header(minimal))
    for (const headers of [many, [many.slice(0, 800).join(', ')]]) {
      const { challenges, problems } = parseChallenges(headers)
      expect(challenges).toHaveLength(64)
      expect(problems).toEqual(['There are more than 64 challenges: the rest was not read.'])
    }
  })

  test('beyond 64 KiB of challenges is not read', () => {
    const good = header(minimal)
    const { challenges, problems } = parseChallenges([good, 'x'.repeat(65_536), good])
    expect(challenges).toHaveLength(1)
    expect(problems).toEqual([expect.stringContaining('more than 65536 characters')])
  })

  test.each([
    ['a credential', () => parseCredential(`Payment ${'A'.repeat(70_000)}`)],
    ['a receipt', () => parseReceipt('A'.repeat(20_000))],
    ['a request', () => decodeChargeRequest({ ...sample, request: 'A'.repeat(20_000) })],
    ['Accept-Payment', () => parseAcceptPayment('a/b,'.repeat(2_000))],
  ])('of a length that nobody needs is no %s', (_, reading) => {
    expect(reading()).toMatchObject({ problem: expect.stringMatching(/more than \d+ characters/) })
  })
})
