import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import {
  decodeChargeRequest,
  encodeChallengeRequest,
  merchantKeyProblem,
  readCardDetails,
} from '../../src/mpp/index.ts'
import { chargeRequest, merchantJwk, methodDetails, sample } from './samples.ts'

const decoded = (request: unknown) =>
  decodeChargeRequest({ ...sample, request: encodeChallengeRequest(Object(request)) })
const details = (changed: object) =>
  readCardDetails({ amount: 1n, currency: 'eur', methodDetails: { ...methodDetails, ...changed } })

describe('the request of a challenge', () => {
  test('is decoded, with cents as a whole number', () => {
    expect(decoded(chargeRequest)).toEqual({ ...chargeRequest, amount: 1_250n })
    expect(decoded({ amount: '1', currency: 'eur', recipient: 'r', description: 'd' })).toEqual({
      amount: 1n,
      currency: 'eur',
      recipient: 'r',
      description: 'd',
      methodDetails: {},
    })
  })

  test.each([
    ['an amount as number', { amount: 1_250 }, 'amount'],
    ['an amount with decimals', { amount: '12.50' }, 'amount'],
    ['an amount of nothing', { amount: '0' }, 'amount'],
    ['a leading zero', { amount: '01' }, 'amount'],
    ['an amount below zero', { amount: '-1' }, 'amount'],
    ['an amount of 16 digits', { amount: '1000000000000000' }, 'amount'],
    ['a currency in capitals', { currency: 'EUR' }, 'currency'],
    ['no currency', { currency: undefined }, 'currency'],
    ['an externalId that is no text', { externalId: 7 }, 'externalId'],
    ['a description without end', { description: 'x'.repeat(5_000) }, 'description'],
    ['details that are a list', { methodDetails: [] }, 'methodDetails'],
  ])('is refused with %s', (_, changed, named) => {
    expect(decoded({ ...chargeRequest, ...changed })).toMatchObject({
      problem: expect.stringContaining(named),
    })
  })

  test.each([
    ['padding', 'e30='],
    ['the letters of base64', 'fn5-fn5+'],
    ['bits that mean nothing', 'e31'],
    ['no JSON', 'e3'],
    ['a list', 'W10'],
    ['no UTF-8', 'eyL_In0'],
  ])('is refused with %s', (_, request) => {
    expect(decodeChargeRequest({ ...sample, request })).toMatchObject({
      problem: expect.stringMatching(/^The request/),
    })
  })
})

describe('the details of a charge by card', () => {
  test('are networks, name and key', () => {
    const { acceptedNetworks, merchantName } = methodDetails
    const { kty, n, e, use, alg, kid } = merchantJwk as Record<string, unknown>
    const encryptionJwk = { kty, n, e, use, alg, kid }
    expect(details({})).toEqual({
      acceptedNetworks,
      merchantName,
      key: { encryptionJwk },
      billingRequired: false,
    })
    const jwks = {
      encryptionJwk: undefined,
      jwksUri: 'https://m.example/jwks',
      kid: 'k',
      billingRequired: true,
    }
    expect(details(jwks)).toMatchObject({
      key: { jwksUri: 'https://m.example/jwks', kid: 'k' },
      billingRequired: true,
    })
  })

  test.each([
    ['no networks', { acceptedNetworks: [] }, /networks/],
    ['networks of any letters', { acceptedNetworks: ['Visa'] }, /networks/],
    ['no name', { merchantName: '' }, /merchantName/],
    ['two keys', { jwksUri: 'https://m.example/jwks', kid: 'k' }, /both encryptionJwk and jwksUri/],
    ['no key', { encryptionJwk: undefined }, /no key/],
    ['an address that is none', { encryptionJwk: undefined, jwksUri: 'jwks', kid: 'k' }, /no key/],
    [
      'an address without the name of the key',
      { encryptionJwk: undefined, jwksUri: 'https://m.example' },
      /kid/,
    ],
    ['a weak key', { encryptionJwk: rsa(1_024) }, /2048/],
  ])('are refused with %s', (_, changed, why) => {
    expect(details(changed)).toMatchObject({ problem: expect.stringMatching(why) })
  })
})

function rsa(modulusLength: number): object {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength })
  return { ...publicKey.export({ format: 'jwk' }), use: 'enc', alg: 'RSA-OAEP-256', kid: 'k' }
}

describe('the key of a merchant', () => {
  test('is good with 2048 bits, a name and the demanded use', () => {
    expect(merchantKeyProblem(merchantJwk)).toBeUndefined()
    expect(merchantKeyProblem({ ...merchantJwk, key_ops: ['encrypt'] })).toBeUndefined()
  })

  test.each([
    ['1024 bits', rsa(1_024), /2048 to 8192 bits/],
    ['another use', { ...merchantJwk, use: 'sig' }, /use enc/],
    ['no use', { ...merchantJwk, use: undefined }, /use enc/],
    ['another alg', { ...merchantJwk, alg: 'RSA-OAEP' }, /alg RSA-OAEP-256/],
    ['no kid', { ...merchantJwk, kid: undefined }, /kid/],
    ['a private member', { ...merchantJwk, d: 'AQAB' }, /private member d/],
    ['another type', { ...merchantJwk, kty: 'EC' }, /not an RSA key/],
    ['an exponent of 3', { ...merchantJwk, e: 'Aw' }, /exponent/],
    ['a modulus that is no text', { ...merchantJwk, n: 7 }, /modulus/],
    ['key_ops for signatures', { ...merchantJwk, key_ops: ['verify'] }, /key_ops/],
    ['a text in its place', 'key', /not a JSON Web Key/],
  ])('is refused with %s', (_, jwk, why) => {
    expect(merchantKeyProblem(jwk)).toMatch(why)
  })
})
