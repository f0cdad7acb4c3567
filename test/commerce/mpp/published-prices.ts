import { afterAll, describe, expect, test } from '@jest/globals'
import {
  answerWith,
  type Conduct,
  demand,
  openMerchant,
  sell,
} from '../../support/commerce/merchant-server.ts'
import { aPayer, credentialsOn, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const offer = (amount: string | null, more: object = {}) => ({
  method: 'card',
  intent: 'charge',
  currency: 'eur',
  amount,
  ...more,
})

const document = (...offers: readonly object[]): Conduct =>
  answerWith(
    200,
    { 'content-type': 'application/json' },
    JSON.stringify({ paths: { '/orders/{id}': { post: { 'x-payment-info': { offers } } } } }),
  )

const opened: { close(): void }[] = []
afterAll(() => {
  for (const merchant of opened) merchant.close()
})

/** A merchant of its own, since what one publishes is kept. */
async function aPublisher(published: Conduct, challenge = demand()) {
  const merchant = await openMerchant()
  opened.push(merchant)
  merchant.sells('/openapi.json', published)
  const url = merchant.sells('/orders/1', challenge, sell())
  return { merchant, url }
}

const order = { method: 'POST' as const, body: { number: 1 } }

describe('before a request that may have an effect', () => {
  test('the price in the merchant’s OpenAPI is read once for all payers, and one that the intent cannot pay is refused unsent', async () => {
    const { merchant, url } = await aPublisher(document(offer('2001'), offer('9900')))
    for (const payer of [await aPayer(service), await aPayer(service)]) {
      expect(await pay(payer, url, order)).toMatchObject({
        status: 400,
        code: 'amount_above_held',
        error: expect.stringMatching(
          /publishes a price of € 20\.01.*only € 20\.00 is held.*Nothing was sent/,
        ),
      })
      expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
    }
    expect([merchant.visits('/openapi.json').length, merchant.visits('/orders/1').length]).toEqual([1, 0])
    expect(merchant.visits('/openapi.json')[0]?.headers.authorization).toBeUndefined()
  })

  test('also in a document that is too long to be read between two requests', async () => {
    const paths = { '/orders/{id}': { post: { 'x-payment-info': { offers: [offer('2001')] } } } }
    const long = JSON.stringify({ info: { description: 'x'.repeat(1_500_000) }, paths })
    const { merchant, url } = await aPublisher(answerWith(200, {}, long))
    expect(await pay(await aPayer(service), url, order)).toMatchObject({ code: 'amount_above_held' })
    expect(merchant.visits('/orders/1')).toEqual([])
  })

  test('methods that no card of the service pays by are refused unsent', async () => {
    const { merchant, url } = await aPublisher(document(offer('1', { method: 'tempo' })))
    expect(await pay(await aPayer(service), url, order)).toMatchObject({
      code: 'no_card_offer',
      error: expect.stringMatching(/OpenAPI offers tempo\/charge/),
    })
    expect(merchant.visits('/orders/1')).toEqual([])
  })
})

describe('the challenge decides', () => {
  test('above a lower price that is published', async () => {
    const { merchant, url } = await aPublisher(document(offer('100')), demand({ amount: '2001' }))
    expect(await pay(await aPayer(service), url, order)).toMatchObject({
      code: 'amount_above_held',
      error: expect.stringMatching(/asks for € 20\.01/),
    })
    expect(merchant.payments('/orders/1')).toEqual([])
  })

  test('for a GET, which has no effect, without reading what is published', async () => {
    const { merchant, url } = await aPublisher(document(offer('9900')))
    expect(await bodyOf(pay(await aPayer(service), url))).toMatchObject({ merchant_status: 200 })
    expect(merchant.visits('/openapi.json')).toEqual([])
  })

  test.each<[string, Conduct]>([
    ['one of several prices is within the intent', document(offer('9900'), offer('2000'))],
    ['a price depends on the request', document(offer('9900'), offer(null))],
    ['a currency is unknown', document(offer('9900', { currency: '0x20c0' }))],
    ['nothing is published', answerWith(404)],
    ['the document is elsewhere', answerWith(302, { location: 'http://127.0.0.1:1/' })],
    ['the document is no JSON', answerWith(200, {}, '{"paths":')],
    ['the connection breaks', (_, response) => response.destroy()],
  ])('where %s', async (_, published) => {
    const { merchant, url } = await aPublisher(published)
    expect(await bodyOf(pay(await aPayer(service), url, order))).toMatchObject({ merchant_status: 200 })
    expect(merchant.payments('/orders/1')).toHaveLength(1)
  })
})
