import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { compactDecrypt, decodeProtectedHeader } from 'jose'
import { hasCardNumber } from '../../../src/values/card-number.ts'
import { aKeyPair, type KeyPair } from '../../support/cards/encryption-keys.ts'
import { callOf } from '../../support/cards/sandbox.ts'
import { aCard, stripeAt } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const processor = stripeAt(stripe.url)
const RETRIEVE = /^GET issuing\/cards\//
const NONCE = 'ephkn_1'
let pair: KeyPair
beforeAll(async () => {
  pair = await aKeyPair()
  await processor.issue(aCard(), callOf('issue_1'))
})
afterEach(() => stripe.heal())

const disclose = (id = 'ic_1') =>
  processor.disclose(
    id,
    { key: pair.key, intentId: 'intent_1', merchantHost: 'books.example' },
    callOf('disclose_1'),
  )

describe('the number of a card at Stripe', () => {
  test('card data is a JWE that only the recipient can read, bound to intent and merchant', async () => {
    const answer = await disclose()
    if (!('jwe' in answer)) throw new Error(JSON.stringify(answer))
    expect(Object.keys(answer)).toEqual(['jwe'])
    expect(hasCardNumber(answer)).toBe(false)
    const { plaintext } = await compactDecrypt(answer.jwe, pair.privateKey)
    expect(JSON.parse(new TextDecoder().decode(plaintext))).toEqual({
      number: stripe.number,
      cvc: stripe.cvc,
      expMonth: 8,
      expYear: 2030,
    })
    expect(decodeProtectedHeader(answer.jwe)).toMatchObject({
      kid: pair.key.thumbprint,
      intentId: 'intent_1',
      merchantHost: 'books.example',
    })
  })

  test('is requested explicitly when the card is retrieved, and in no other call', async () => {
    const before = stripe.requests.length
    await disclose()
    await processor.setState('ic_1', 'active', callOf('state_1'))
    await processor.setState('ic_1', 'closed', callOf('state_2'))
    await processor.setState('ic_1', 'active', callOf('state_3'))
    const requests = stripe.requests.slice(before)
    const asking = requests.filter(({ params }) => /number|cvc/.test(JSON.stringify(params)))
    expect(asking.map(({ method, path, params }) => ({ method, path, params }))).toEqual([
      { method: 'GET', path: 'issuing/cards/ic_1', params: { expand: { 0: 'number', 1: 'cvc' } } },
    ])
    expect(requests).toHaveLength(5)
  })

  test.each([
    ['no number', { number: undefined, cvc: '731' }],
    ['an empty number', { number: '', cvc: '731' }],
    ['a number in groups', { number: '4000 0099 9000 0018', cvc: '731' }],
    ['no CVC', { number: '4000009990000018' }],
  ])('is not passed on where Stripe sends %s', async (_, data) => {
    const card = { exp_month: 8, exp_year: 2030, ...data }
    stripe.break(RETRIEVE, (_, response) => response.end(JSON.stringify(card)))
    expect(await disclose()).toEqual({ failure: 'unusable' })
  })

  test('is refused for a card that does not exist', async () => {
    expect(await disclose('ic_none')).toMatchObject({ failure: 'refused', code: 'resource_missing' })
  })

  test('is in no failure', async () => {
    stripe.break(RETRIEVE, refusal(400, { message: `The card ${stripe.number} is gone` }))
    const answer = await disclose()
    expect(answer).toMatchObject({ failure: 'refused' })
    expect(hasCardNumber(answer)).toBe(false)
  })
})

describe('an ephemeral key', () => {
  test('is made for one card and one nonce', async () => {
    const answer = await processor.ephemeralKey?.('ic_1', NONCE, callOf('nonce_1'))
    expect(answer).toEqual({ secret: stripe.secret, expiresAt: new Date('2027-01-15T08:00:00.000Z') })
    const { params, key } = stripe.requests.at(-1) ?? {}
    expect({ params, key }).toEqual({ params: { issuing_card: 'ic_1', nonce: NONCE }, key: 'nonce_1' })
  })

  test('without a secret is unusable', async () => {
    stripe.break(/^POST ephemeral_keys$/, (_, response) => response.end('{"expires":1800000000}'))
    expect(await processor.ephemeralKey?.('ic_1', NONCE, callOf('nonce_2'))).toEqual({ failure: 'unusable' })
  })
})

test('Stripe has no network tokens, and only Stripe can sign its messages', () => {
  expect(processor).toMatchObject({
    name: 'stripe',
    networkToken: null,
    setNetworkToken: null,
    pushRefund: null,
    sign: null,
  })
})
