import { describe, expect, test } from '@jest/globals'
import { Receipt } from 'mppx'
import { Mppx, stripe } from 'mppx/client'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { ask, challengeOf, offeredIn, present } from '../../support/commerce/machine-payer.ts'
import { aPayer, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { balance, client, create, get, settlements, urlOf } = await aPayee(service)
const any = { headers: { 'accept-payment': '*/*' } }
const byStripe = { headers: { 'accept-payment': 'stripe/charge' } }

const tokenOf = async (
  processorCardId: string,
  limits: { amount?: string; seller?: string; expires?: number },
) => {
  const { amount = '2000', seller = 'profile_test_sandbox', expires = 60_000 } = limits
  const now = new Date()
  const expiresAt = new Date(now.getTime() + expires).toISOString()
  const order = { processorCardId, seller, amount, currency: 'eur', expiresAt }
  const call = { reference: crypto.randomUUID(), requestId: 'req_1', now }
  const token = await sandboxWith(ENCRYPTION_KEY).sharedTokens?.create(order, call)
  if (!token || 'failure' in token) throw new Error('the sandbox creates shared payment tokens')
  return token.tokenId
}

describe('a payment request by the method stripe', () => {
  test('is offered beside the card, or as the only method that the payer accepts', async () => {
    const { id } = await create({ amountEuros: 20 })
    const { challenges } = await ask(urlOf(id), any)
    expect(challenges.map(({ method }) => method)).toEqual(['card', 'stripe'])
    const only = await ask(urlOf(id), byStripe)
    expect(only.challenges.map(({ method }) => method)).toEqual(['stripe'])
    expect(offeredIn(await challengeOf(urlOf(id), byStripe))).toMatchObject({
      amount: 2_000n,
      currency: 'eur',
      externalId: id,
      methodDetails: { networkId: 'profile_test_sandbox', paymentMethodTypes: ['card'] },
    })
  })

  test('is not offered below what Stripe charges', async () => {
    const { id } = await create({ amountEuros: 0.49 })
    expect((await ask(urlOf(id), any)).challenges.map(({ method }) => method)).toEqual(['card'])
  })

  test('is paid by an agent of ours: the network’s report without a token meets the same payment', async () => {
    const request = await create({ amountEuros: 20 })
    const payer = await aPayer(service)
    const before = await balance()
    const challenge = serializeChallenge(await challengeOf(urlOf(request.id), byStripe))
    const minted = await bodyOf(
      payer.agentClient.mpp.mint({ body: { intentId: payer.intent.id, challenge, url: urlOf(request.id) } }),
    )
    expect(minted).toMatchObject({ network: 'stripe', status: 'minted', header: 'Authorization' })
    const paid = await present(urlOf(request.id), String(minted.credential))
    expect(paid).toMatchObject({ status: 200, receipt: { method: 'stripe', externalId: request.id } })
    expect(await present(urlOf(request.id), String(minted.credential))).toMatchObject({ status: 200 })
    expect(await settlements(request.id)).toMatchObject([{ status: 'paid', network: 'stripe', last4: '' }])
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidEuros: 20 })
    expect(await balance()).toBe(before + 20)
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([
      { status: 'consumed', outcomeBy: 'network' },
    ])
    expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
    const { data } = await bodyOf(payer.client.transactions.list({ query: { intentId: payer.intent.id } }))
    expect(data).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
    await Promise.all([expectVerifiedLedger(client), expectVerifiedLedger(payer.client)])
  })

  test.each([
    [[], 'visa'],
    [['card' as const], 'visa'],
    [['stripe' as const, 'card' as const], 'stripe'],
    [['stripe' as const], 'stripe'],
  ])('is paid by the first method of the policy: with %j by %s', async (mppMethods, network) => {
    const request = await create({ amountEuros: 20 })
    const payer = await aPayer(service, { rules: { mppMethods } })
    expect(await pay(payer, urlOf(request.id))).toMatchObject({ status: 200 })
    expect(await credentialsOn(payer.client, payer.intent.id)).toMatchObject([
      { status: 'consumed', network },
    ])
    expect(await get(request.id)).toMatchObject({ status: 'paid' })
  })

  test('is not paid by a method that the policy leaves out', async () => {
    const request = await create({ amountEuros: 0.4 })
    const payer = await aPayer(service, { rules: { mppMethods: ['stripe'] } })
    expect(await pay(payer, urlOf(request.id))).toMatchObject({
      status: 400,
      code: 'no_card_offer',
      error: expect.stringMatching(
        /Offered: card\/charge\. The agent’s policy allows only stripe \(mppMethods\)\./,
      ),
    })
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
  })

  test('is paid by a client made with mppx', async () => {
    const request = await create({ amountEuros: 20 })
    const { card } = await aPayer(service)
    const method = stripe.charge({
      paymentMethod: 'pm_of_the_peer',
      createToken: ({ amount, networkId }) =>
        tokenOf(card.processorCardId, { amount, seller: String(networkId) }),
    })
    const { fetch: payingFetch } = Mppx.create({ methods: [method], polyfill: false })
    const answer = await payingFetch(urlOf(request.id))
    // The owner of the card has no intent for it: the payment is decided by its policy alone.
    expect([answer.status, await answer.json()]).toMatchObject([200, { requestId: request.id }])
    expect(Receipt.fromResponse(answer)).toMatchObject({ status: 'success', method: 'stripe' })
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidEuros: 20 })
  })

  test.each([
    ['of another seller', { seller: 'profile_test_other' }],
    ['of a smaller limit', { amount: '1999' }],
    ['that has expired', { expires: -1_000 }],
  ])('is not paid by a token %s', async (_, limits) => {
    const request = await create({ amountEuros: 20 })
    const { card } = await aPayer(service)
    const method = stripe.charge({
      paymentMethod: 'pm_of_the_peer',
      createToken: () => tokenOf(card.processorCardId, limits),
    })
    const { fetch: payingFetch } = Mppx.create({ methods: [method], polyfill: false })
    const answer = await payingFetch(urlOf(request.id)).catch(() => null)
    expect(answer?.status ?? 402).toBe(402)
    expect(await get(request.id)).toMatchObject({ status: 'open', paidEuros: 0 })
  })
})
