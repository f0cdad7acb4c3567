import { describe, expect, test } from '@jest/globals'
import { paidRequestsIn } from '../../support/commerce/paid-requests.ts'
import { aRequest, balanceOf, sendEuros } from '../../support/commerce/requests.ts'
import { aRun, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { aPayee } = paidRequestsIn(service)

describe.each([false, true])(
  'an intent that names a payment request as its payee (an own one: %s)',
  isOwn => {
    test('has the public name of its holder as the merchant, and nothing of the wallet', async () => {
      const { declare, name, request, agent, payer } = await aPayee({ isOwn })
      const intent = await bodyOf(declare())
      expect(intent).toMatchObject({
        status: 'approved',
        merchant: name,
        requestId: request.id,
        walletId: null,
        beneficiaryId: null,
        paymentTokenId: null,
        amountEuros: 25,
      })
      expect(JSON.stringify(intent)).not.toContain('Secret plans')
      expect(await balanceOf(payer.client, agent.walletId)).toEqual([9_975, 25])
      expect(await bodyOf(declare({ merchant: ` ${name.toUpperCase()} ` }))).toMatchObject({ merchant: name })
      expect(await declare({ merchant: 'Bookshop' })).toMatchObject({ status: 400, code: 'payee_mismatch' })
    })

    test('is judged by that name in lists, duplicates and simulations', async () => {
      const { declare, name, request, agent, payer } = await aPayee({ isOwn })
      const { id: runId } = await aRun(payer.client, agent.id)
      const first = await bodyOf(declare({ runId }))
      expect(await bodyOf(declare({ runId }))).toMatchObject({
        status: 'created',
        possibleDuplicateOf: first.id,
      })
      const simulate = (policy: object, more: object = {}) =>
        payer.client.intents.simulate({
          body: { policy: { name: 'P', ...policy }, amountEuros: 25, requestId: request.id, ...more },
        })
      expect(await bodyOf(simulate({ merchantBlocklist: [name] }))).toMatchObject({ allowed: false })
      expect(await bodyOf(simulate({ merchantAllowlist: [name] }))).toMatchObject({ allowed: true })
      expect(await simulate({}, { amountEuros: 5 })).toMatchObject({ code: 'request_other_amount' })
      expect(await simulate({}, { requestId: 'request_1' })).toMatchObject({ code: 'request_not_found' })
      const byAgent = { agentId: agent.id, amountEuros: 25, requestId: request.id }
      expect(await bodyOf(payer.client.intents.simulate({ body: byAgent }))).toMatchObject({ allowed: true })
    })

    test('is for exactly what is missing, and for an open request', async () => {
      const { declare, request, holder } = await aPayee({ isOwn })
      const other = await declare({ amountEuros: 20 })
      expect(other).toMatchObject({ status: 400, code: 'request_other_amount' })
      expect(other.error).toBe(
        'amountEuros: the outstanding amount of the request is € 25.00, not € 20.00. Declare the outstanding amount.',
      )
      await sendEuros(holder.client, 10, request.reference)
      expect(await declare()).toMatchObject({ code: 'request_other_amount' })
      expect(await bodyOf(declare({ amountEuros: 15 }))).toMatchObject({ status: 'approved' })
      await bodyOf(holder.client.collect.cancel({ params: { id: request.id }, body: {} }))
      const ended = await declare({ amountEuros: 15 })
      expect(ended).toMatchObject({ status: 400, code: 'request_not_open' })
      expect(ended.error).toBe('requestId: the request is cancelled, and cannot be paid.')
    })
  },
)

describe('a payment request of another owner', () => {
  test('a request of another mode, or an unknown one, does not exist', async () => {
    const { payer, agent, holder } = await aPayee()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [holder.ownerId])
    const { key } = await bodyOf(holder.client.keys.create({ body: { name: 'Live', environment: 'live' } }))
    const live = service.client(String(key))
    const request = await aRequest(live, (await aWallet(live)).id)
    for (const requestId of [request.id, 'request_01jd8x2m4ye7k9v0c3q5r6t8wz']) {
      const body = { agentId: agent.id, amountEuros: 25, purpose: 'Report', requestId }
      const answer = await payer.client.intents.create({ body })
      expect(answer).toMatchObject({ status: 404, code: 'request_not_found' })
      expect(answer.error).toBe('requestId: no such payment request.')
    }
  })

  test('counts towards the limits of the payer', async () => {
    const { client } = await service.owner()
    const holder = await service.owner()
    const policy = await bodyOf(
      client.policies.create({ body: { name: 'P', autoApproveLimitEuros: 1_000, dailyLimitEuros: 40 } }),
    )
    const agent = await bodyOf(client.agents.create({ body: { name: 'Reader', policyId: policy.id } }))
    await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: 100 } }))
    const wallet = await aWallet(holder.client)
    const declareFor = async () => {
      const { id: requestId } = await aRequest(holder.client, wallet.id)
      const body = { agentId: agent.id, amountEuros: 25, purpose: 'Report', requestId }
      return bodyOf(client.intents.create({ body }))
    }
    const first = await declareFor()
    await bodyOf(client.checkout.execute({ body: { intentId: first.id } }))
    expect(await declareFor()).toMatchObject({ status: 'denied' })
  })
})

describe('an intent that a request or a payment token names the payee of', () => {
  test.each(['request', 'token'])('is paid by no card and by no other transfer (%s)', async kind => {
    const { payer, agent, request, wallet, name, declare } = await aPayee()
    const { client } = payer
    const token = { agentId: agent.id, amountEuros: 25, recipientWalletId: wallet.id }
    const intentId =
      kind === 'request'
        ? (await bodyOf(declare())).id
        : (await bodyOf(client.paymentTokens.create({ body: token }))).intentId
    const { id: cardId } = await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
    const shop = await aWallet(client)
    const merchantUrl = 'https://shop.example.com/checkout'
    const fromWalletId = agent.walletId
    const refusals = [
      client.checkout.confirm({ body: { intentId }, idempotencyKey: `confirm-${kind}` }),
      client.checkout.createSession({ body: { intentId, merchantUrl, cardId } }),
      client.credentials.create({ body: { intentId, cardId, ttlSeconds: 900 } }),
      client.cards.create({ body: { agentId: agent.id, usage: 'single', intentId } }),
      client.mpp.pay({ body: { url: 'https://shop.example.com/report', intentId, cardId } }),
      client.transfers.create({ body: { fromWalletId, toWalletId: shop.id, amountEuros: 25, intentId } }),
    ]
    expect((await Promise.all(refusals)).map(({ code }) => code)).toEqual([
      'intent_other_payee',
      'intent_not_by_card',
      'intent_not_by_card',
      'intent_paid_by_transfer',
      'intent_not_by_card',
      'intent_other_payee',
    ])
    const authorizationId = `${kind}-${cardId}`
    await client.sandbox.authorizeCard({ body: { cardId, authorizationId, amountEuros: 25, merchant: name } })
    const { data } = await bodyOf(client.authorizations.list({ params: { id: cardId } }))
    expect(data).toMatchObject([{ intentId: null }])
    expect(await bodyOf(client.intents.get({ params: { id: intentId } }))).toMatchObject({
      status: 'approved',
      transactionId: null,
    })
    if (kind === 'token')
      expect(await client.checkout.execute({ body: { intentId } })).toMatchObject({
        code: 'intent_not_by_wallet',
      })
    expect(await bodyOf(payer.client.wallets.get({ params: { id: shop.id } }))).toMatchObject({
      availableEuros: 0,
    })
    expect(request.status).toBe('open')
  })
})
