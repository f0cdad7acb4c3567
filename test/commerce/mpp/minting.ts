import { describe, expect, test } from '@jest/globals'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { aChallenge, type ChallengeOptions } from '../../support/commerce/challenges.ts'
import { demand, openedPayment, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, credentialsOn, intentOf, type Payer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { tablesWith, traceOf } from '../../support/trace.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const mint = ({ agentClient, intent }: Payer, options: ChallengeOptions = {}, members = {}, more = {}) =>
  agentClient.mpp.mint({
    body: {
      intentId: intent.id,
      url: `${merchant.url}/minted`,
      challenge: serializeChallenge(aChallenge(options)),
      ...members,
    },
    ...more,
  })

describe('a credential that is only minted', () => {
  test('is shown once, kept as a digest, and good at the merchant', async () => {
    const payer = await aPayer(service)
    const answer = await mint(payer)
    expect(answer).toMatchObject({
      status: 201,
      body: { status: 'minted', sentBy: 'caller', sentAt: null, header: 'Authorization', amountEuros: 20 },
    })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining([
        'mpp.credential.minted',
        'agent_credential.issued',
        'card.access_granted',
      ]),
    })
    const credential = String(answer.body.credential)
    const url = merchant.sells('/minted', demand(), sell())
    const given = await fetch(url, { headers: { authorization: credential } })
    expect(given.status).toBe(200)
    const [visit] = merchant.payments('/minted')
    if (!visit) throw new Error('the merchant has seen no credential')
    expect(await openedPayment(visit)).toMatchObject({ payload: { network: 'visa' } })
    expect(await tablesWith(service, credential.slice('Payment '.length, 80))).toEqual([])
    expect(await intentOf(payer)).toMatchObject({
      payment: { type: 'mpp', status: 'submitted', amountEuros: 20 },
    })
    expect(await pay(payer, url)).toMatchObject({ code: 'intent_being_paid' })
  })

  test('is not shown in a replay', async () => {
    const payer = await aPayer(service)
    const key = { idempotencyKey: 'mint-once' }
    const body = { challenge: serializeChallenge(aChallenge()) }
    const [first, again] = [await mint(payer, {}, body, key), await mint(payer, {}, body, key)]
    expect([first.status, again.body]).toEqual([201, { ...first.body, credential: null }])
    expect(await credentialsOn(payer.client, payer.intent.id)).toHaveLength(1)
  })

  test('names the header for the credential', async () => {
    const payer = await aPayer(service)
    const { header } = await bodyOf(mint(payer, { parameters: { header: 'payment-authorization' } }))
    expect(header).toBe('Payment-Authorization')
  })

  test.each<[string, ChallengeOptions, object, string]>([
    ['a challenge that costs too much', { amount: '2001' }, {}, 'amount_above_held'],
    ['a host that the intent is not for', {}, { url: 'https://shop.example.com/' }, 'merchant_mismatch'],
    [
      'a realm that the intent is not for',
      { realm: 'evil.example' },
      { url: undefined },
      'merchant_mismatch',
    ],
    ['no challenge', {}, { challenge: 'Bearer realm="x"' }, 'no_card_offer'],
  ])('is not made for %s', async (_, options, members, code) => {
    const payer = await aPayer(service)
    expect(await mint(payer, options, members)).toMatchObject({ status: 400, code })
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
  })

  test('ends as not paid by a key, and pays nothing then', async () => {
    const payer = await aPayer(service)
    const { id } = await bodyOf(mint(payer))
    const answer = await payer.client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } })
    expect(answer).toMatchObject({ status: 200, body: { status: 'void' } })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved', payment: { status: 'cancelled' } })
  })
})
