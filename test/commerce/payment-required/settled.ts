import { describe, expect, test } from '@jest/globals'
import { verifySigned } from '../../../src/derive/verify-signed.ts'
import { ask, challengeOf, credentialFor, pay, present } from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService({ env: { LOG_LEVEL: 'error' } })
const payee = await aPayee(service)
const { client, create, get, settlements, urlOf } = payee

describe('a good credential', () => {
  test('pays the request, and is given the receipt and what it unlocks', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const challenge = await challengeOf(url)
    const paid = await present(url, credentialFor(challenge))
    expect(paid).toMatchObject({
      status: 200,
      body: {
        requestId: request.id,
        amountEuros: 12.5,
        description: request.description,
        unlocks: { url: 'https://example.com/reports/17' },
      },
      receipt: { status: 'success', method: 'card', challengeId: challenge.id, externalId: request.id },
    })
    expect(paid.headers.get('cache-control')).toBe('private')
    expect(await get(request.id)).toMatchObject({ status: 'paid', paidBy: 'card', paidEuros: 12.5 })
    const [settlement] = await settlements(request.id)
    expect(settlement).toMatchObject({
      id: paid.body.settlementId,
      status: 'paid',
      challengeId: challenge.id,
      amountEuros: 12.5,
      network: 'visa',
      last4: '4242',
      receipt: paid.headers.get('payment-receipt'),
    })
    await expectVerifiedLedger(client)
  })

  test('gets a receipt whose proof anybody can check offline', async () => {
    const request = await create()
    const { receipt } = await pay(urlOf(request.id))
    const keys = (await ask(`${service.url}/.well-known/jwks.json`)).body
    const { proof, ...members } = { ...receipt }
    expect(verifySigned(String(proof), keys, 'mpp-receipt+jwt')).toMatchObject({
      ...members,
      amount: '1250',
      currency: 'eur',
      mode: 'test',
    })
  })
})
