import { expect, test } from '@jest/globals'
import { clock } from '../../src/values/clock.ts'
import { cardRules } from '../support/cards/network.ts'
import {
  anAuthorization,
  aTransaction,
  EVENTS_SECRET,
  entry,
  eventOf,
  REAL_TIME_SECRET,
  SECRET_KEY,
  signed,
} from '../support/cards/stripe.ts'
import { startStripeDouble } from '../support/cards/stripe-double.ts'
import { aLiveClient, anAgent, aPaymentMethod, aPolicy, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const stripe = await startStripeDouble()
const service = await startTestService({
  env: {
    CARD_PROCESSOR: 'stripe',
    FUNDING_RAIL: 'sandbox',
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

test('a test card is issued by the sandbox, regardless of live mode’s processor', async () => {
  const { client } = await service.owner()
  const { id: agentId } = await anAgent(client)
  const before = stripe.requests.length
  expect(await bodyOf(client.cards.create({ body: { agentId, usage: 'multi' } }))).toMatchObject({
    brand: 'sandbox',
  })
  expect(stripe.requests.length).toBe(before)
})

let events = 0
async function send(type: string, object: object, secret = EVENTS_SECRET, before?: object) {
  const body = eventOf(type, object, before as Record<string, unknown>).replace('evt_1', `evt_${++events}`)
  const headers = signed(body, secret, clock.real())
  const response = await fetch(`${service.url}/rails/card-processor`, { method: 'POST', headers, body })
  return {
    status: response.status,
    version: response.headers.get('stripe-version'),
    text: await response.text(),
  }
}

async function aPayingCard() {
  const live = await aLiveClient(service, await service.owner())
  const address = { line1: 'Torstraße 1', city: 'Berlin', postalCode: '10119', country: 'DE' }
  await bodyOf(live.customers.updateMe({ body: { phone: '+493012345678', address } }))
  const agent = await anAgent(live, { policyId: (await aPolicy(live, cardRules)).id })
  const { id: paymentMethodId } = await aPaymentMethod(live)
  const body = { amountEuros: 100, paymentMethodId }
  await bodyOf(live.fund.wallet({ params: { id: agent.walletId }, body }))
  const card = await bodyOf(live.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
  const balance = async () => {
    const { availableEuros, heldEuros } = await bodyOf(live.agents.balance({ params: { id: agent.id } }))
    return [availableEuros, heldEuros]
  }
  const authorizations = async () =>
    (await bodyOf(live.authorizations.list({ params: { id: card.id }, query: {} }))).data
  return { live, processorCardId: [...stripe.cards.keys()].at(-1), balance, authorizations }
}

const steps = {
  cleared: (card: unknown, id: string) =>
    send(
      'issuing_transaction.created',
      aTransaction({ id: `ipi_${id}`, amount: -2_000, authorization: id, card }),
    ),
  closed: (card: unknown, id: string) => {
    const transactions = [aTransaction({ id: `ipi_${id}`, amount: -2_000, authorization: id, card })]
    const closed = anAuthorization({ id, card, status: 'closed', transactions })
    return send('issuing_authorization.updated', closed, EVENTS_SECRET, { status: 'pending' })
  },
}

test.each([
  ['clearing and end', ['cleared', 'closed', 'closed']],
  ['end and clearing', ['closed', 'cleared', 'cleared']],
] as const)('a payment by Stripe is answered at once, and settled by its %s', async (_, order) => {
  const { live, processorCardId: card, balance, authorizations } = await aPayingCard()
  const id = `iauth_${order[0]}_first`
  const pending_request = { amount: 2_500, currency: 'eur', is_amount_controllable: false }
  const asked = anAuthorization({ id, card, amount: 0, request_history: [], pending_request })
  expect(await send('issuing_authorization.request', asked, REAL_TIME_SECRET)).toEqual({
    status: 200,
    version: '2026-10-28.endive',
    text: '{"approved":true}',
  })
  expect(await balance()).toEqual([75, 25])
  expect(await send('issuing_authorization.created', anAuthorization({ id, card }))).toMatchObject({
    status: 200,
  })
  expect(await balance()).toEqual([75, 25])
  for (const step of order) expect(await steps[step](card, id)).toMatchObject({ status: 200 })
  expect(await balance()).toEqual([80, 0])
  expect(await authorizations()).toMatchObject([{ status: 'cleared', clearedEuros: 20, heldEuros: 0 }])
  await expectVerifiedLedger(live)
})

test('a payment in dollars is held and charged in the euros of Stripe, and keeps its dollars', async () => {
  const { live, processorCardId: card, balance, authorizations } = await aPayingCard()
  const id = 'iauth_dollars'
  const dollars = (cents: number) => ({ merchant_amount: cents, merchant_currency: 'usd' })
  const pending_request = { amount: 1_142, currency: 'eur', is_amount_controllable: false, ...dollars(1_200) }
  const asked = anAuthorization({ id, card, amount: 0, request_history: [], pending_request })
  await send('issuing_authorization.request', asked, REAL_TIME_SECRET)
  expect(await balance()).toEqual([88.58, 11.42])
  expect(await authorizations()).toMatchObject([{ original: { amount: '12.00', currency: 'USD' } }])
  const cleared = aTransaction({
    id: 'ipi_dollars',
    card,
    authorization: id,
    amount: -1_120,
    ...dollars(-1_200),
  })
  const request_history = [{ ...entry(1_142, true), ...dollars(1_200) }]
  const closed = anAuthorization({ id, card, status: 'closed', request_history, transactions: [cleared] })
  await send('issuing_authorization.updated', closed, EVENTS_SECRET, { status: 'pending' })
  expect(await balance()).toEqual([88.8, 0])
  const refund = aTransaction({
    id: 'ipi_back',
    card,
    authorization: id,
    amount: 560,
    type: 'refund',
    ...dollars(600),
  })
  await send('issuing_transaction.created', refund)
  expect(await balance()).toEqual([94.4, 0])
  const [payment] = await authorizations()
  expect(payment).toMatchObject({ clearedEuros: 11.2, original: { amount: '12.00', currency: 'USD' } })
  const params = { id: String(payment?.transactionId) }
  expect(await bodyOf(live.transactions.get({ params }))).toMatchObject({
    amountEuros: 11.2,
    refundedEuros: 5.6,
    original: { amount: '12.00', currency: 'USD', heldEuros: 11.42, refundedAmount: '6.00' },
  })
  expect((await bodyOf(live.refunds.list({ query: { transactionId: params.id } }))).data).toMatchObject([
    { arrivedEuros: 5.6, original: { amount: '6.00', currency: 'USD' } },
  ])
  await expectVerifiedLedger(live)
})

test('Stripe’s own decision is booked where it wins over ours, and a wrong signature moves nothing', async () => {
  const { processorCardId: card, balance, authorizations } = await aPayingCard()
  const fallback = anAuthorization({
    id: 'iauth_fallback',
    card,
    request_history: [{ ...entry(3_000, true), reason: 'network_fallback' }],
  })
  expect(await send('issuing_authorization.created', fallback, 'whsec_of_somebody_else')).toMatchObject({
    status: 401,
  })
  expect(await authorizations()).toEqual([])
  expect(await send('issuing_authorization.created', fallback)).toMatchObject({ status: 200 })
  expect(await balance()).toEqual([70, 30])
  const reversed = anAuthorization({ ...fallback, amount: 0, status: 'reversed' })
  await send('issuing_authorization.updated', reversed, EVENTS_SECRET, { status: 'pending', amount: 3_000 })
  expect(await balance()).toEqual([100, 0])
})
