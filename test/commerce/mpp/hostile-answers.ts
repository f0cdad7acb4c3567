import { describe, expect, test } from '@jest/globals'
import type { Credential } from '../../../src/mpp/index.ts'
import {
  answerWith,
  type Conduct,
  demand,
  receiptFor,
  sell,
  startMerchant,
} from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const elsewhere = await startMerchant()

/** Headers and half of the body, then nothing more. */
const breakOff: Conduct = ({ credential }, response) => {
  const receipt = receiptFor(credential as Credential)
  response.writeHead(200, { 'content-length': '100', 'payment-receipt': receipt }).write('half of')
  setImmediate(() => response.socket?.destroy())
}

const open: readonly (readonly [string, Conduct])[] = [
  ['asks for money again', demand()],
  ['asks for more money', demand({ amount: '2' })],
  ['asks for other money', demand({ currency: 'usd' })],
  ['answers 403', answerWith(403)],
  ['answers 404', answerWith(404)],
  ['answers 500', answerWith(500)],
  [
    'gives a receipt with an error',
    ({ credential }, response) =>
      response.writeHead(500, { 'payment-receipt': receiptFor(credential as Credential) }).end(),
  ],
  [
    'redirects to a private address',
    answerWith(302, { location: elsewhere.sells('/hidden', answerWith(200)) }),
  ],
  ['resets the connection', (_, response) => response.destroy()],
  ['breaks off after the headers', breakOff],
]

describe('after the credential was sent, a merchant that', () => {
  test.each(open)('%s leaves the outcome open, and the money held', async (what, gives) => {
    const path = `/${what.replace(/\W+/g, '-')}`
    const url = merchant.sells(path, demand(), gives)
    const payer = await aPayer(service)
    const before = await balanceOf(payer)
    const answer = await pay(payer, url)
    expect([answer.status, answer.code]).toEqual([502, 'payment_indeterminate'])
    const [credential, ...others] = await credentialsOn(payer.client, payer.intent.id)
    expect([credential?.status, credential?.receipt, others]).toEqual(['indeterminate', null, []])
    expect(answer.error).toContain(`POST /v1/mpp/credentials/${credential?.id}/resolve`)
    expect(await balanceOf(payer)).toEqual(before)
    expect(await pay(payer, url)).toMatchObject({ status: 400, code: 'intent_being_paid' })
    expect(merchant.payments(path)).toHaveLength(1)
    expect(elsewhere.visits('/hidden')).toEqual([])
    const { payment } = await intentOf(payer)
    expect(payment).toMatchObject({ type: 'mpp', id: credential?.id, status: 'submitted' })
  })

  test.each<[string, Conduct, RegExp]>([
    ['no receipt', answerWith(200, {}, 'sold'), /no receipt/],
    ['a forged receipt', answerWith(200, { 'payment-receipt': 'forged' }, 'sold'), /receipt/],
    ['the receipt of a failure', sell({}, { status: 'failed' } as never), /status/],
    ['a foreign receipt', sell({}, { challengeId: 'of-somebody-else' }), /another challenge/],
    ['a receipt for another order', sell({}, { externalId: 'order-2' }), /externalId/],
    ['an old receipt', sell({}, { timestamp: '2026-01-01T00:00:00Z' }), /older/],
  ])('gives %s is paid all the same, with a note', async (what, gives, note) => {
    const url = merchant.sells(`/${what.replace(/\W+/g, '-')}`, demand(), gives)
    const payer = await aPayer(service)
    const { status, body } = await pay(payer, url)
    expect([status, body.receipt, body.note]).toEqual([200, null, expect.stringMatching(note)])
    const record = await bodyOf(payer.client.mpp.get({ params: { id: body.credential_id } }))
    expect(record).toMatchObject({ status: 'consumed', receipt: null, note: body.note })
  })

  test('never ends its body gets its money, and is cut at 1 MiB', async () => {
    const endless: Conduct = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      const chunk = 'x'.repeat(65_536)
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', pour)
      }
      pour()
    }
    const url = merchant.sells('/endless', demand(), endless)
    const { body } = await bodyOf(pay(await aPayer(service), url)).then(body => ({ body }))
    expect(body.merchant_body).toMatchObject({ truncated: true })
    expect(String(body.merchant_body.text)).toHaveLength(1_048_576)
  })
})

test('a merchant that sends the credential back does not make it stay: the caller gets the rest', async () => {
  const sent: string[] = []
  const echo: Conduct = ({ credential, headers }, response) => {
    const given = String(headers.authorization).replace(/^Payment /, '')
    const jwe = String((credential as Credential).payload.encryptedPayload)
    sent.push(given, jwe)
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ given, jwe, price: 2.5 }))
  }
  const url = merchant.sells('/echo', demand(), echo)
  const payer = await aPayer(service)
  const { merchant_body: body } = (await bodyOf(pay(payer, url))) as { merchant_body: unknown }
  expect(body).toEqual({
    given: '*'.repeat(sent[0]?.length ?? 0),
    jwe: '*'.repeat(sent[1]?.length ?? 0),
    price: 2.5,
  })
  expect(sent.every(secret => secret.length > 100)).toBe(true)
})
