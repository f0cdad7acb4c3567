import { expect, test } from '@jest/globals'
import { EVENTS_SECRET, REAL_TIME_SECRET, SECRET_KEY } from '../support/cards/stripe.ts'
import { startStripeDouble } from '../support/cards/stripe-double.ts'
import { aLiveClient, anAgent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const stripe = await startStripeDouble()
const service = await startTestService({
  env: {
    CARD_PROCESSOR: 'stripe',
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: REAL_TIME_SECRET,
    STRIPE_WEBHOOK_SECRET_EVENTS: EVENTS_SECRET,
    STRIPE_API_URL: stripe.url,
  },
})

test('a live card is issued by Stripe once the customer has given what the refusal named', async () => {
  const owner = await service.owner()
  const live = await aLiveClient(service, owner)
  const { id: agentId } = await anAgent(live)
  const limits = { maxTransactionEuros: 25.5 }
  const create = () => live.cards.create({ body: { agentId, usage: 'multi', limits } })

  const refused = await create()
  expect(refused).toMatchObject({ status: 400, code: 'processor_refused' })
  expect(refused.error).toMatch(/an address \(`address`\), a phone number \(`phone`\).*PATCH \/customers\/me/)
  expect(stripe.requests).toEqual([])

  const address = {
    line1: 'Torstraße 1',
    line2: 'c/o King',
    city: 'Berlin',
    postalCode: '10119',
    country: 'DE',
  }
  await bodyOf(live.customers.updateMe({ body: { phone: '+493012345678', address } }))
  const card = await bodyOf(create())
  expect(card).toMatchObject({ status: 'active', brand: 'visa', last4: '0018' })
  expect(stripe.cards.get('ic_1')).toMatchObject({
    metadata: { card_id: card.id, owner_id: owner.ownerId },
    spending_controls: {
      spending_limits: expect.arrayContaining([{ interval: 'per_authorization', amount: '2550' }]),
    },
  })
  expect(stripe.cardholders.get('ich_1')).toMatchObject({
    phone_number: '+493012345678',
    billing: { address: { line1: 'Torstraße 1', line2: 'c/o King', postal_code: '10119' } },
  })
})

test('a test card is the sandbox’s, whatever live mode has', async () => {
  const { client } = await service.owner()
  const { id: agentId } = await anAgent(client)
  const before = stripe.requests.length
  expect(await bodyOf(client.cards.create({ body: { agentId, usage: 'multi' } }))).toMatchObject({
    brand: 'sandbox',
  })
  expect(stripe.requests.length).toBe(before)
})
