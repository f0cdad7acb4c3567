import { describe, expect, test } from '@jest/globals'
import { verifySigned } from '../../../src/derive/verify-signed.ts'
import { serializeCredential } from '../../../src/mpp/index.ts'
import {
  ask,
  challengeOf,
  credentialFor,
  pay,
  payloadFor,
  present,
} from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { tablesWith } from '../../support/trace.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const payee = await aPayee(service)
const { balance, client, create, get, settlements, urlOf } = payee

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

  test('gets the same answer again, and is charged once', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    const before = await balance()
    const first = await present(url, value)
    const again = await present(url, value.replace('Payment ', 'payment  '))
    const inTheOtherHeader = await ask(url, { headers: { 'payment-authorization': value } })
    for (const repeated of [again, inTheOtherHeader]) {
      expect({ status: repeated.status, text: repeated.text }).toEqual({ status: 200, text: first.text })
      expect(repeated.headers.get('payment-receipt')).toBe(first.headers.get('payment-receipt'))
      expect(repeated.headers.get('cache-control')).toBe('private')
    }
    expect(await settlements(request.id)).toHaveLength(1)
    expect(await balance()).toBe(before + 12.5)
  })

  test('leaves nothing of card, token or credential in the database', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const challenge = await challengeOf(url)
    const payload = payloadFor(challenge)
    const value = serializeCredential({ challenge, payload })
    expect(await present(url, value)).toMatchObject({ status: 200 })
    for (const secret of ['4242424242424242', 'AQIDBA==', payload.encryptedPayload, value.slice(8)])
      expect(await tablesWith(service, secret)).toEqual([])
    expect(await tablesWith(service, challenge.id)).toEqual(expect.arrayContaining(['mpp_settlements']))
  })

  test('keeps its answer after a refund', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url))
    const { text } = await present(url, value)
    await service.sql(`update payment_requests set status = 'refunded' where id = $1`, [request.id])
    expect(await present(url, value)).toMatchObject({ status: 200, text })
    expect(await ask(url)).toMatchObject({ status: 409, challenges: [] })
  })
})

describe('another credential', () => {
  test('for a used challenge is 402 with a fresh challenge, as long as the request is not paid', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const challenge = await challengeOf(url)
    expect((await present(url, credentialFor(challenge, { number: '4000000000000002' }))).status).toBe(402)
    const other = await present(url, credentialFor(challenge))
    expect(other).toMatchObject({
      status: 402,
      challenges: [{ method: 'card' }],
      receipt: undefined,
      body: { type: expect.stringMatching(/\/invalid-challenge$/), title: 'Invalid Challenge' },
    })
    expect(other.headers.get('x-error-code')).toBe('challenge_used')
    const [fresh] = other.challenges
    expect(fresh?.id).not.toBe(challenge.id)
    expect((await pay(url)).status).toBe(200)
    const late = await present(url, credentialFor(challenge))
    expect(late).toMatchObject({ status: 409, challenges: [] })
    expect(late.headers.get('x-error-code')).toBe('request_paid')
    expect(await settlements(request.id)).toHaveLength(2)
  })

  test('for a request that is paid by card already is 409', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const challenge = await challengeOf(url)
    expect((await pay(url)).status).toBe(200)
    const late = await present(url, credentialFor(challenge))
    expect(late).toMatchObject({ status: 409, challenges: [] })
    expect(late.headers.get('x-error-code')).toBe('request_paid')
    expect(await settlements(request.id)).toHaveLength(1)
  })
})

describe('a card that is declined', () => {
  test('returns a fresh challenge, and leaves the request open', async () => {
    const request = await create()
    const url = urlOf(request.id)
    const value = credentialFor(await challengeOf(url), { number: '4000000000000002' })
    for (const answer of [await present(url, value), await present(url, value)]) {
      expect(answer).toMatchObject({ status: 402, challenges: [{ method: 'card' }], receipt: undefined })
      expect(answer.body).toMatchObject({
        title: 'Verification Failed',
        detail: expect.stringContaining('declined'),
      })
    }
    expect(await get(request.id)).toMatchObject({ status: 'open', paidEuros: 0 })
    expect(await settlements(request.id)).toMatchObject([
      { status: 'declined', declineCode: 'card_declined', receipt: null },
    ])
    expect(await pay(url)).toMatchObject({ status: 200 })
  })
})
