import { describe, expect, test } from '@jest/globals'
import { verifySigned } from '../../../src/derive/verify-signed.ts'
import { credentialDigest } from '../../../src/mpp/index.ts'
import { answerWith, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, credentialsOn, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const keySet = async () => (await service.http('GET', '/.well-known/jwks.json')).body

describe('evidence', () => {
  test('is checked offline: decision, intent, challenge, digests, receipt', async () => {
    const url = merchant.sells('/proven', demand())
    const payer = await aPayer(service)
    const { credential_id: id, receipt } = await bodyOf(pay(payer, url))
    const { jws } = await bodyOf(payer.agentClient.mpp.evidence({ params: { id } }))
    const claims = verifySigned(jws, await keySet(), 'payment-evidence')
    const [visit] = merchant.payments('/proven')
    expect(claims).toMatchObject({
      ownerId: payer.owner.ownerId,
      mode: 'test',
      agentId: payer.agent.id,
      decision: { allowed: true },
      intent: { id: payer.intent.id, merchant: '127.0.0.1', amountEuros: 20 },
      challenge: visit?.credential?.challenge,
      request: { method: 'GET', url, answeredWith: 200 },
      credential: {
        id,
        digest: `sha-256=${credentialDigest(String(visit?.headers.authorization))}`,
        status: 'consumed',
        amountEuros: 20,
      },
      receipt: { header: receipt, says: { status: 'success' } },
    })
    const [head, body, signature] = jws.split('.')
    const forged = Buffer.from(String(body), 'base64url').toString().replace('consumed', 'indetermi')
    const altered = [head, Buffer.from(forged).toString('base64url'), signature].join('.')
    expect(() => verifySigned(altered, { keys: [] }, 'payment-evidence')).toThrow()
    const keys = await keySet()
    expect(() => verifySigned(altered, keys, 'payment-evidence')).toThrow(/signature/)
  })

  test('evidence of an unknown outcome says so, and is hidden from other owners', async () => {
    const url = merchant.sells('/unproven', demand(), answerWith(500))
    const payer = await aPayer(service)
    await pay(payer, url)
    const [credential] = await credentialsOn(payer.client, payer.intent.id)
    const params = { id: String(credential?.id) }
    const { jws } = await bodyOf(payer.client.mpp.evidence({ params }))
    expect(verifySigned(jws, await keySet(), 'payment-evidence')).toMatchObject({
      credential: { status: 'indeterminate', transactionId: null },
      request: { answeredWith: 500 },
      receipt: null,
    })
    const other = await aPayer(service)
    expect(await other.client.mpp.evidence({ params })).toMatchObject({ status: 404 })
  })
})
