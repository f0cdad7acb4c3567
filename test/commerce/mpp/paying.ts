import { describe, expect, test } from '@jest/globals'
import { tokenScopes } from '../../../src/kernel/contract/scopes.ts'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { aChallenge, type ChallengeOptions } from '../../support/commerce/challenges.ts'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { aToken, bodyOf } from '../../support/factories.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

describe('of several offers, the first that can be paid is paid', () => {
  const offers: Readonly<Record<string, ChallengeOptions>> = {
    unknown: { currency: 'xyz', amount: '100' },
    dollars: { currency: 'usd', amount: '1160' },
    expensive: { currency: 'usd', amount: '999900' },
    expired: { expires: '2020-01-01T00:00:00Z' },
    'of another network': { details: { acceptedNetworks: ['amex'] } },
  }

  test.each([
    ['dollars', 'unknown'],
    ['unknown', 'dollars'],
    ['expired', 'dollars'],
    ['expired', 'unknown', 'dollars'],
    ['expensive', 'of another network', 'dollars'],
  ])('%s, %s', async (...names) => {
    const payer = await aPayer(service)
    const url = `http://127.0.0.1:${merchant.port}/several`
    const challenge = names.map(name => serializeChallenge(aChallenge(offers[name]))).join(', ')
    const body = { intentId: payer.intent.id, challenge, url }
    const minted = await bodyOf(payer.agentClient.mpp.mint({ body }))
    expect(minted).toMatchObject({ status: 'minted', conversion: { price: '11.60', currency: 'USD' } })
  })
})

describe('a token with a budget', () => {
  test('pays the intents that it declared, within its budget, and asks no merchant for others', async () => {
    const payer = await aPayer(service)
    const { client, agent, intent } = payer
    const token = await aToken(client, agent.id, {
      scopes: [...tokenScopes.given, 'cards:reveal'],
      maxAmountEuros: 30,
    })
    const agentClient = service.client(String(token.token))
    const use = () => bodyOf(client.agentTokens.get({ params: { id: agent.id, tokenId: token.id } }))
    const declare = () => agentClient.intents.create({ body: { ...spend, agentId: agent.id } })
    const spend = { merchant: '127.0.0.1', amountEuros: 20, purpose: 'A report' }
    const url = merchant.sells('/budget', demand(), sell())
    for (const headers of [{}, { prefer: 'respond-async' }])
      expect(await pay({ ...payer, agentClient }, url, { intentId: intent.id }, { headers })).toMatchObject({
        status: 403,
        code: 'intent_other_budget',
      })
    expect(merchant.visits('/budget')).toEqual([])
    const own = await bodyOf(declare())
    await bodyOf(pay({ ...payer, agentClient, intent: own }, url))
    expect(await use()).toMatchObject({ heldEuros: 0, spentEuros: 20, remainingEuros: 10 })
    expect(await bodyOf(declare())).toMatchObject({ status: 'denied' })
    await bodyOf(pay(payer, url))
    expect(await use()).toMatchObject({ spentEuros: 20, remainingEuros: 10 })
  })
})

describe('paying a merchant that answers 402', () => {
  test('returns the purchase and the receipt, and captures the money once', async () => {
    const url = merchant.sells('/report', demand(), sell({ report: 42 }))
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const answer = await pay(payer, `${url}?q=secret`)
    expect(answer).toMatchObject({ status: 200 })
    expect(Object.keys(answer.body)).toEqual(['credential_id', 'merchant_status', 'receipt', 'merchant_body'])
    expect(answer.body).toMatchObject({ merchant_status: 200, merchant_body: { report: 42 } })
    const [first, second, ...others] = merchant.visits('/report')
    expect([first?.credential, second?.path, others]).toEqual([undefined, '/report?q=secret', []])
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    expect(credential).toMatchObject({
      id: answer.body.credential_id,
      status: 'consumed',
      outcomeBy: 'merchant',
      sentBy: 'service',
      amountEuros: 20,
      merchant: `127.0.0.1:${merchant.port}`,
      url,
      merchantStatus: 200,
      receipt: answer.body.receipt,
      workflowId: null,
    })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining([
        'mpp.credential.minted',
        'mpp.credential.consumed',
        'mpp.transaction.completed',
        'intent.completed',
        'transaction.completed',
      ]),
    })
    const intent = await intentOf(payer)
    expect(intent).toMatchObject({ status: 'completed', transactionId: credential?.transactionId })
    const after = await balanceOf(payer)
    expect([before.heldEuros - after.heldEuros, after.availableEuros - before.availableEuros]).toEqual([
      20, 0,
    ])
    expect(await tablesWith(service, 'q=secret')).toEqual([])
  })
})
