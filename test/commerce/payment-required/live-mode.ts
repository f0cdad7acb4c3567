import { describe, expect, test } from '@jest/globals'
import { ask, challengeOf, credentialFor, present } from '../../support/commerce/machine-payer.ts'
import { recordingAcquirer } from '../../support/commerce/refunds.ts'
import { aRequest } from '../../support/commerce/requests.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayee } from './service.ts'

const { acquirer } = recordingAcquirer()
const charged: unknown[] = []
/** Accepts and charges every token, in both modes. */
const charging = {
  ...acquirer,
  accept: () => ({ handle: 'card of a test', network: 'visa', last4: '4242' }),
  async charge(charge: unknown) {
    charged.push(charge)
    return { outcome: 'approved' as const }
  },
}

const service = await startTestService({ outside: { acquirer: () => charging } })
const plain = await startTestService({ own: true })
const payee = await aPayee(service)
const { id: ofTest } = await payee.create({ amountEuros: 20 })
const live = await aLiveClient(service, payee.owner)
const { id: ofLive } = await aRequest(live, (await aWallet(live)).id)

const invalid = { status: 402, body: { title: 'Invalid Challenge' } }

describe('a credential for a request of the other mode', () => {
  test.each([
    ['of test mode pays no live request', ofTest, ofLive],
    ['of live mode pays no request of test mode', ofLive, ofTest],
  ])('%s of the same owner', async (_, offered, asked) => {
    const credential = credentialFor(await challengeOf(payee.urlOf(offered)))
    const answer = await present(payee.urlOf(asked), credential)
    expect(answer).toMatchObject(invalid)
    expect(answer.challenges).toMatchObject([{ method: 'card' }])
    expect(charged).toEqual([])
    expect(await payee.get(ofTest)).toMatchObject({ status: 'open', paidEuros: 0 })
    expect(await bodyOf(live.collect.get({ params: { id: ofLive } }))).toMatchObject({
      status: 'open',
      paidEuros: 0,
    })
  })

  test('of its own mode pays it, once', async () => {
    for (const id of [ofTest, ofLive]) {
      const credential = credentialFor(await challengeOf(payee.urlOf(id)))
      expect(await present(payee.urlOf(id), credential)).toMatchObject({ status: 200 })
      expect(await present(payee.urlOf(id), credential)).toMatchObject({ status: 200 })
    }
    expect(charged).toHaveLength(2)
    expect(await bodyOf(live.collect.get({ params: { id: ofLive } }))).toMatchObject({ status: 'paid' })
  })
})

describe('a live request of an installation without an acquirer for live mode', () => {
  test('is refused regardless of the credential, and can be paid only by SEPA', async () => {
    const other = await aPayee(plain)
    const { id } = await other.create()
    const client = await aLiveClient(plain, other.owner)
    const request = await aRequest(client, (await aWallet(client)).id)
    const url = other.urlOf(request.id)
    const credential = credentialFor(await challengeOf(other.urlOf(id)))
    for (const answer of [await ask(url), await present(url, credential)])
      expect([answer.status, answer.headers.get('x-error-code'), answer.challenges]).toEqual([
        503,
        'not_configured',
        [],
      ])
    expect(await bodyOf(client.collect.get({ params: { id: request.id } }))).toMatchObject({ status: 'open' })
    expect(request.reference).toMatch(/^RF/)
  })
})
