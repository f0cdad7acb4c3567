import { describe, expect, test } from '@jest/globals'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { aChallenge, type ChallengeOptions } from '../../support/commerce/challenges.ts'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
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
