import { beforeAll, describe, expect, test } from '@jest/globals'
import type { CardProcessor } from '../../../src/ports/card-processor.ts'
import { addMs, minutes } from '../../../src/values/clock.ts'
import { type Cents, cents } from '../../../src/values/money.ts'
import { aKeyPair } from '../../support/cards/encryption-keys.ts'
import { callOf, requestedAt } from '../../support/cards/sandbox.ts'
import { aCard, address, stripeAt } from '../../support/cards/stripe.ts'
import { type StripeMock, startStripeMock } from '../../support/cards/stripe-mock.ts'

/** The mock refuses parameters that Stripe does not accept; it has no state and no card numbers. */
let mock: StripeMock
let processor: CardProcessor
beforeAll(async () => {
  mock = await startStripeMock()
  processor = stripeAt(mock.url, 'sk_test_123')
})

const issued = {
  processorCardId: expect.stringMatching(/^ic_\w+$/),
  brand: 'visa',
  last4: '4242',
  expMonth: expect.any(Number),
  expYear: expect.any(Number),
}

describe('Stripe’s own stand-in', () => {
  test('listens on the loopback only', () => {
    expect(mock.addresses).toEqual(Array(2).fill(expect.stringMatching(/^127\.0\.0\.1:\d+$/)))
  })

  test.each([
    ['a person', aCard()],
    ['a business', aCard({ holder: { ...aCard().holder, type: 'business', name: 'Books & More 24 GmbH' } })],
    [
      'an address of two lines',
      aCard({ holder: { ...aCard().holder, address: { ...address, line2: 'c/o Babbage' } } }),
    ],
    [
      'limits and countries',
      aCard({
        controls: {
          ...aCard().controls,
          maxTransactionCents: cents(1_000n),
          dailyLimitCents: cents(2_000n),
          monthlyLimitCents: cents(3_000n),
          allowedCountries: ['DE', 'FR'],
        },
      }),
    ],
  ])('takes the card of %s', async (_, card) => {
    expect(await processor.issue(card, callOf('issue_1'))).toEqual(issued)
  })

  test('accepts the search for a card of an old request', async () => {
    const now = addMs(requestedAt, minutes(25 * 60))
    expect(await processor.issue(aCard(), { ...callOf('issue_3'), now })).toEqual(issued)
  })

  test('accepts a replacement', async () => {
    expect(await processor.replace('ic_1', aCard(), callOf('replace_1'))).toEqual(issued)
  })

  test.each(['active', 'inactive', 'closed'] as const)('accepts the state %s', async state => {
    expect(await processor.setState('ic_1', state, callOf('state_1'))).toEqual({ done: true })
  })

  test.each([
    ['none', aCard().controls],
    ['some', { ...aCard().controls, dailyLimitCents: cents(2_000n), allowedCountries: ['DE'] }],
  ])('takes controls: %s', async (_, controls) => {
    expect(await processor.setControls('ic_1', controls, callOf('controls_1'))).toEqual({ done: true })
  })

  test('accepts the request for number and CVC; the empty answers are not passed on', async () => {
    const { key } = await aKeyPair()
    const recipient = { key, intentId: null, merchantHost: null }
    expect(await processor.disclose('ic_1', recipient, callOf('disclose_1'))).toEqual({ failure: 'unusable' })
  })

  test('accepts the request for an ephemeral key; the answer has no secret', async () => {
    const answer = await processor.ephemeralKey?.('ic_1', 'ephkn_1', callOf('nonce_1'))
    expect(answer).toEqual({ failure: 'unusable' })
  })

  test('refuses invalid parameters, so that the tests above can fail', async () => {
    const controls = { ...aCard().controls, maxTransactionCents: 'ten' as unknown as Cents }
    expect(await processor.issue(aCard({ controls }), callOf('issue_2'))).toMatchObject({
      failure: 'refused',
      message: expect.stringContaining('spending_limits'),
    })
  })
})
