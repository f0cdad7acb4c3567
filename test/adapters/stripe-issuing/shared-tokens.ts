import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { STRIPE_PREVIEW_VERSION } from '../../../src/adapters/stripe/issuing/shared-tokens.ts'
import type { SharedPaymentTokens, SharedTokenOrder } from '../../../src/ports/card-processor.ts'
import { callOf } from '../../support/cards/sandbox.ts'
import { aCard, stripeAt } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const processor = stripeAt(stripe.url)
const { create, revoke, stateOf } = processor.sharedTokens as SharedPaymentTokens
const TOKENS = /^POST shared_payment\/issued_tokens$/
const REVOKE = /^POST shared_payment\/issued_tokens\/\w+\/revoke$/

const inMinutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString()

const order = (more: Partial<SharedTokenOrder> = {}): SharedTokenOrder => ({
  processorCardId: 'ic_1',
  seller: 'profile_123',
  amount: '2000',
  currency: 'usd',
  expiresAt: inMinutes(5),
  ...more,
})

beforeAll(() => processor.issue(aCard(), callOf('issue_1')))
afterEach(() => stripe.heal())

const idOf = async (reference: string, given = order()): Promise<string> => {
  const token = await create(given, callOf(reference))
  if ('failure' in token) throw new Error(JSON.stringify(token))
  return token.tokenId
}

describe('a shared payment token of Stripe', () => {
  test('is made from the Issuing card, for one seller, amount, currency and time', async () => {
    const given = order()
    expect(await create(given, callOf('mppcredential_1'))).toEqual({
      tokenId: 'spt_1',
      last4: '0018',
      state: { status: 'active' },
    })
    const [method] = stripe.to(/^POST payment_methods$/)
    expect(method?.params).toEqual({ type: 'card', card: { issuing_card: 'ic_1' } })
    const [token] = stripe.to(TOKENS)
    expect(token?.params).toEqual({
      payment_method: 'pm_1',
      seller_details: { network_business_profile: 'profile_123' },
      usage_limits: {
        currency: 'usd',
        max_amount: '2000',
        expires_at: String(Math.floor(Date.parse(given.expiresAt) / 1_000)),
      },
    })
    for (const request of [method, token])
      expect(request?.headers['stripe-version']).toBe(STRIPE_PREVIEW_VERSION)
    expect([method?.key, token?.key]).toEqual(['mppcredential_1/method', 'mppcredential_1'])
    expect(JSON.stringify(stripe.requests)).not.toContain(stripe.number)
  })

  test('is the same one for the same reference and order', async () => {
    const given = order()
    const [first, second] = [await idOf('again', given), await idOf('again', given)]
    expect(second).toBe(first)
    expect(await idOf('another', given)).not.toBe(first)
  })

  test('is found by its reference after an answer that was lost', async () => {
    const given = order()
    stripe.afterwards(TOKENS, response => response.destroy())
    expect(await create(given, callOf('lost'))).toEqual({ failure: 'late' })
    stripe.heal()
    const made = [...stripe.tokens.keys()].at(-1)
    expect(await idOf('lost', given)).toBe(made)
  })

  test('is revoked once; one that has ended counts as revoked', async () => {
    const tokenId = await idOf('revoked')
    for (const reference of ['first', 'second'])
      expect(await revoke(tokenId, callOf(reference))).toEqual({ done: true })
    expect(stripe.tokens.get(tokenId)).toMatchObject({ deactivated_reason: 'revoked' })
    expect(await revoke('spt_unknown', callOf('third'))).toMatchObject({ failure: 'refused' })
  })

  test('that Stripe neither revokes nor calls ended must be revoked later', async () => {
    const tokenId = await idOf('kept')
    stripe.break(REVOKE, refusal(400, { message: 'Not now.' }))
    expect(await revoke(tokenId, callOf('fourth'))).toEqual({ failure: 'late' })
    expect(stripe.tokens.get(tokenId)).toMatchObject({ status: 'active' })
  })

  test.each([
    ['without access to the preview', 400, { code: 'parameter_unknown', message: 'Unknown.' }, 'refused'],
    ['with a key that lacks the right', 403, { message: 'This key lacks a permission.' }, 'unusable'],
    ['while Stripe is busy', 429, { message: 'Too many requests.' }, 'late'],
  ])('is not created %s', async (_, status, error, failure) => {
    stripe.break(/^POST payment_methods$/, refusal(status, error))
    expect(await create(order(), callOf(`failing-${status}`))).toMatchObject({ failure })
  })

  test('that a person must confirm names the page, and is usable once that is done', async () => {
    const returnUrl = 'https://pay.example.com/console/machine-payments/mppcredential_1'
    stripe.holder.isAsked = 'token'
    const asked = await create(order({ returnUrl }), callOf('asks'))
    stripe.holder.isAsked = 'never'
    const [request] = stripe.to(TOKENS).slice(-1)
    expect(request?.params).toMatchObject({ use_stripe_sdk: 'false', return_url: returnUrl })
    if ('failure' in asked) throw new Error(asked.failure)
    const { tokenId, state } = asked
    const url = `https://hooks.stripe.com/redirect/authenticate/${tokenId}`
    const required = { status: 'requires_action', action: { type: 'redirect', url } }
    expect(state).toEqual(required)
    expect(await stateOf(tokenId, callOf('state'))).toEqual(required)
    await stripe.holder.confirms(tokenId)
    expect(await stateOf(tokenId, callOf('state'))).toEqual({ status: 'active' })
    await revoke(tokenId, callOf('fifth'))
    expect(await stateOf(tokenId, callOf('state'))).toEqual({ status: 'ended' })
    expect(await stateOf('spt_unknown', callOf('state'))).toMatchObject({ failure: 'refused' })
  })

  test.each([
    ['without a page of Stripe', '{"id":"spt_asks","status":"requires_action"}'],
    [
      'by a script of Stripe',
      '{"id":"spt_asks","status":"requires_action","next_action":{"type":"use_stripe_sdk","use_stripe_sdk":{"value":"e30="}}}',
    ],
    [
      'at an address that is none',
      '{"id":"spt_asks","status":"requires_action","next_action":{"redirect_to_url":{"url":"javascript:alert(1)"}}}',
    ],
  ])('that a person must confirm %s names none', async (kind, body) => {
    stripe.break(TOKENS, (_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    )
    expect(await create(order(), callOf(`asks ${kind}`))).toMatchObject({
      state: { status: 'requires_action', action: null },
    })
  })

  test.each(['{"id":"spt_1"}', '{"id":"tok_1","status":"active"}', '{}'])(
    'is unusable in an answer of another form: %s',
    async body => {
      stripe.break(TOKENS, (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(body),
      )
      expect(await create(order(), callOf(`odd-${body}`))).toEqual({ failure: 'unusable' })
    },
  )
})
