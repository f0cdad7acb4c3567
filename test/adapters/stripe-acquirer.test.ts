import { afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { stripeAcquirer } from '../../src/adapters/stripe-acquirer/stripe-acquirer.ts'
import type { AcquirerChargeOrder } from '../../src/ports/acquirer.ts'
import { isProcessorFailure, type SharedTokenOrder } from '../../src/ports/card-processor.ts'
import { cents } from '../../src/values/money.ts'
import { callOf, requestedAt } from '../support/cards/sandbox.ts'
import { aCard, SECRET_KEY, stripeAt } from '../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const issuer = stripeAt(stripe.url)
const account = { secretKey: SECRET_KEY, webhookSecrets: [], apiUrl: stripe.url }
const acquirer = stripeAcquirer({ ...account, networkId: stripe.seller.profile })
const call = { requestId: 'request-1', now: requestedAt }
const INTENTS = /^POST payment_intents$/

beforeAll(() => issuer.issue(aCard(), callOf('issue_1')))
afterEach(() => {
  stripe.heal()
  stripe.network.approves = async () => true
})

let tokens = 0
async function aToken(more: Partial<SharedTokenOrder> = {}): Promise<string> {
  const expiresAt = new Date(Date.now() + 60_000).toISOString()
  const order = { processorCardId: 'ic_1', seller: stripe.seller.profile, amount: '2000', currency: 'eur' }
  const token = await issuer.sharedTokens?.create(
    { ...order, expiresAt, ...more },
    callOf(`token_${++tokens}`),
  )
  if (!token || isProcessorFailure(token)) throw new Error(JSON.stringify(token))
  return token.tokenId
}

const orderFor = (handle: string, reference = `challenge-${handle}`): AcquirerChargeOrder => ({
  handle,
  amountCents: cents(2_000n),
  reference,
  descriptor: 'Books & More',
})

const charge = (order: AcquirerChargeOrder) => acquirer.charge({ ...order, token: order.handle }, call)

const intentsOf = ({ reference }: AcquirerChargeOrder) =>
  [...stripe.intents.values()].filter(
    ({ metadata }) => (metadata as { reference?: string }).reference === reference,
  )

describe('Stripe as the acquirer', () => {
  test('charges a shared payment token once, by a payment intent that carries the reference', async () => {
    const order = orderFor(await aToken())
    expect(acquirer.sharedTokens?.accept(order.handle)).toEqual({
      handle: order.handle,
      network: 'stripe',
      last4: null,
    })
    for (const asked of [charge(order), charge(order), acquirer.stateOf(order, call)])
      expect(await asked).toEqual({ outcome: 'approved' })
    expect(intentsOf(order)).toMatchObject([{ amount: 2_000, currency: 'eur', status: 'succeeded' }])
    expect(stripe.to(INTENTS)[0]?.params).toMatchObject({
      confirm: 'true',
      shared_payment_granted_token: order.handle,
      automatic_payment_methods: { enabled: 'true', allow_redirects: 'never' },
    })
  })

  test('finds a charge whose answer was lost, even once Stripe has forgotten its key', async () => {
    const order = orderFor(await aToken())
    stripe.afterwards(INTENTS, response => response.destroy())
    expect(await charge(order)).toEqual({ outcome: 'late' })
    stripe.heal()
    stripe.forgetKeys()
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
    expect(intentsOf(order)).toHaveLength(1)
  })

  test('reads the state of a charge that was under way when Stripe first answered', async () => {
    const order = orderFor(await aToken())
    const isUnderWay = () =>
      stripe.break(INTENTS, (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"id":"pi_slow","status":"processing"}'),
      )
    isUnderWay()
    expect(await charge(order)).toEqual({ outcome: 'late' })
    stripe.intents.set('pi_slow', { id: 'pi_slow', status: 'succeeded', metadata: {} })
    isUnderWay()
    expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
  })

  test('reports a decline with its code, and again when it is asked for the state', async () => {
    const order = orderFor(await aToken())
    stripe.network.approves = async () => false
    const declined = { outcome: 'declined', code: 'card_declined', reason: 'Your card was declined.' }
    expect(await charge(order)).toEqual(declined)
    expect(await acquirer.stateOf(order, call)).toEqual(declined)
  })

  test.each([
    ['of another seller', { seller: 'profile_other' }],
    ['of a smaller limit', { amount: '1999' }],
    ['of another currency', { currency: 'usd' }],
  ])('charges no token %s', async (_, more) => {
    const order = orderFor(await aToken(more))
    expect(await charge(order)).toMatchObject({ outcome: 'declined' })
    expect(intentsOf(order)).toEqual([])
  })

  test('cancels a payment that would ask the holder, which a program cannot', async () => {
    const order = orderFor(await aToken())
    stripe.break(INTENTS, (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"id":"pi_asks","status":"requires_action"}'),
    )
    expect(await charge(order)).toMatchObject({ outcome: 'declined', code: 'requires_action' })
    expect(stripe.to(/^POST payment_intents\/pi_asks\/cancel$/)).toHaveLength(1)
  })

  test('refunds in parts, each once, and never more than was charged', async () => {
    const order = orderFor(await aToken())
    await charge(order)
    const refund = (refundReference: string, amount: bigint) =>
      acquirer.refund({ ...order, amountCents: cents(amount), refundReference }, call)
    for (const reference of ['refund_1', 'refund_1', 'refund_2'])
      expect(await refund(reference, 800n)).toEqual({ outcome: 'approved' })
    expect(await refund('refund_3', 800n)).toMatchObject({ outcome: 'declined' })
    expect([...stripe.refunds.values()]).toMatchObject([{ amount: 800 }, { amount: 800 }])
  })

  test('leaves the outcome of a refund open while Stripe does not find the payment yet', async () => {
    const order = orderFor(await aToken(), 'challenge-not-found')
    expect(await acquirer.refund({ ...order, refundReference: 'refund_9' }, call)).toEqual({
      outcome: 'late',
    })
  })

  test('accepts no network tokens, and leaves a charge open while Stripe is busy', async () => {
    expect(acquirer.networks).toEqual([])
    expect(acquirer.accept({})).toMatchObject({ refused: expect.any(String) })
    stripe.break(INTENTS, refusal(429, { message: 'Too many requests.' }))
    expect(await charge(orderFor(await aToken()))).toEqual({ outcome: 'late' })
  })
})
