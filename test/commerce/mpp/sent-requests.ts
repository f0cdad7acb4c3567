import { describe, expect, test } from '@jest/globals'
import { decodeProtectedHeader } from 'jose'
import { contentDigest } from '../../../src/mpp/index.ts'
import { merchantKey } from '../../support/commerce/challenges.ts'
import { answerWith, demand, openedPayment, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const merchant = await startMerchant()

const BEARER = { authorization: 'Bearer caller', 'x-order': '7' }

describe('what a merchant is sent', () => {
  test('is a credential for its challenge, encrypted to its key and bound to intent and card', async () => {
    const url = merchant.sells('/token', demand())
    const payer = await aPayer(service)
    await bodyOf(pay(payer, url))
    const [visit] = merchant.payments('/token')
    if (!visit) throw new Error('nothing was paid')
    const { payload, challenge, header, token } = await openedPayment(visit)
    expect(payload).toMatchObject({ network: 'visa', panLastFour: expect.stringMatching(/^\d{4}$/) })
    expect(header).toEqual({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: merchantKey.jwk.kid })
    expect(decodeProtectedHeader(payload.encryptedPayload)).not.toHaveProperty('zip')
    expect(token).toMatchObject({
      token: { paymentToken: expect.any(String), eci: expect.any(String) },
      dynamicData: { dynamicDataValue: expect.any(String) },
      binding: { challengeId: challenge.id, intentId: payer.intent.id, cardId: payer.card.id },
    })
  })

  test('are body and headers of the caller, both times, and no Authorization of its own beside the payment', async () => {
    const body = { query: 'weather' }
    const digest = contentDigest(JSON.stringify(body))
    const url = merchant.sells('/order', demand({ parameters: { digest } }))
    await bodyOf(pay(await aPayer(service), url, { body, headers: BEARER }))
    const [first, second] = merchant.visits('/order')
    expect([first?.method, first?.body, first?.headers['accept-payment']]).toEqual([
      'POST',
      JSON.stringify(body),
      'card/charge, stripe/charge',
    ])
    expect([first?.headers.authorization, first?.headers['x-order']]).toEqual(['Bearer caller', '7'])
    expect([second?.method, second?.body, second?.headers['x-order']]).toEqual(['POST', first?.body, '7'])
    expect(second?.headers.authorization).toMatch(/^Payment /)
  })

  test('is the credential in the header that the challenge names, with the caller’s Authorization beside it', async () => {
    const url = merchant.sells('/other-header', demand({ parameters: { header: 'Payment-Authorization' } }))
    await bodyOf(pay(await aPayer(service), url, { method: 'DELETE', headers: BEARER }))
    const [, second] = merchant.visits('/other-header')
    expect(second?.headers).toMatchObject({
      authorization: 'Bearer caller',
      'payment-authorization': expect.stringMatching(/^Payment /),
    })
    expect(second?.method).toBe('DELETE')
  })

  test.each([
    [{ host: 'evil.example' }, /headers.*"host" is set by the connection/],
    [{ 'payment-authorization': 'Payment x' }, /belongs to the payment/],
  ])('is never %j of the caller', async (headers, error) => {
    const payer = await aPayer(service)
    expect(await pay(payer, `${merchant.url}/order`, { headers })).toMatchObject({
      status: 400,
      error: expect.stringMatching(error),
    })
  })

  test('is not the number of a card', async () => {
    const payer = await aPayer(service)
    const answer = await pay(payer, `${merchant.url}/order`, { body: { card: '4242 4242 4242 4242' } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringMatching(/number of a card/) })
  })

  test.each(['{"order":{"id":12345678901234567890}}', '{"order":{"id":1e400}}'])(
    'is no other number than the caller has sent: %s',
    async body => {
      const payer = await aPayer(service)
      const url = `${merchant.url}/order`
      const given = `{"url":"${url}","intentId":"${payer.intent.id}","cardId":"${payer.card.id}","body":${body}}`
      const answer = await service.http('POST', '/v1/mpp/pay', { token: payer.owner.key, body: given })
      expect([answer.status, answer.body]).toEqual([
        400,
        { error: expect.stringMatching(/^body\.order\.id: /) },
      ])
    },
  )

  test.each([
    ['application/json', '[1,2]', { value: [1, 2] }],
    ['text/html', '<p>42</p>', { text: '<p>42</p>' }],
    ['application/pdf', '%PDF', { text: '%PDF' }],
  ])('may be answered with %s', async (type, sold, expected) => {
    const url = merchant.sells('/typed', demand(), answerWith(200, { 'content-type': type }, sold))
    expect((await bodyOf(pay(await aPayer(service), url))).merchant_body).toEqual(expected)
  })

  test('a lower price is captured, and the rest of the hold released', async () => {
    const url = merchant.sells('/cheap', demand({ amount: '1' }), sell())
    const payer = await aPayer(service)
    const { credential_id: id } = await bodyOf(pay(payer, url))
    expect(await bodyOf(payer.client.mpp.get({ params: { id } }))).toMatchObject({ amountEuros: 0.01 })
    const balance = await bodyOf(payer.client.agents.balance({ params: { id: payer.agent.id } }))
    expect(balance.heldEuros).toBe(0)
  })
})
