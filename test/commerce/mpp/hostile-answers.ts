import { hash } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import type { PaymentCredential } from '../../../src/mpp/index.ts'
import {
  answerWith,
  type Conduct,
  demand,
  openedPayment,
  receiptFor,
  sell,
  startMerchant,
} from '../../support/commerce/merchant.ts'
import { aPayer, balanceOf, credentialsOn, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { tablesWith } from '../../support/trace.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const elsewhere = await startMerchant()

/** Headers and half of the body, then nothing more. */
const breakOff: Conduct = ({ credential }, response) => {
  const receipt = receiptFor(credential as PaymentCredential)
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
      response.writeHead(500, { 'payment-receipt': receiptFor(credential as PaymentCredential) }).end(),
  ],
  [
    'redirects to a private address',
    answerWith(302, { location: elsewhere.sells('/hidden', answerWith(200)) }),
  ],
  ['resets the connection', (_, response) => response.destroy()],
  ['breaks off after the headers', breakOff],
]

describe('after the credential was sent, a merchant that', () => {
  test.each(open)('%s leaves the outcome unknown, and the money held', async (what, gives) => {
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
    ['a foreign receipt', sell({}, { challengeId: 'of-another-challenge' }), /another challenge/],
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
    const jwe = String((credential as PaymentCredential).payload.encryptedPayload)
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
    masked: true,
  })
  expect(sent.every(secret => secret.length > 100)).toBe(true)
})

interface Given {
  readonly number: string
  readonly token: string
  readonly credential: string
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

const ways: readonly (readonly [string, (given: Given) => string])[] = [
  ['the token', ({ token }) => token],
  ['the token in Base64', ({ token }) => base64(token)],
  ['the token within Base64 of a text', ({ token }) => base64(JSON.stringify({ token }))],
  ['the token within base64url', ({ token }) => Buffer.from(`of ${token}.`).toString('base64url')],
  ['the credential', ({ credential }) => credential],
  ['the credential in Base64', ({ credential }) => base64(`a ${credential}`)],
  ['the number', ({ number }) => number],
  ['the number in groups', ({ number }) => (number.match(/.{4}/g) ?? []).join(' ')],
]

test('what the merchant was sent is neither given back nor kept: in the body, its type and the receipt', async () => {
  const forms: string[] = []
  const echo: Conduct = async (visit, response) => {
    const { token, payload } = await openedPayment(visit)
    const { token: read } = token as { token: { paymentToken: string } }
    const given = {
      number: read.paymentToken,
      token: payload.encryptedPayload,
      credential: String(visit.headers.authorization).replace(/^Payment /, ''),
    }
    forms.push(...ways.map(([, write]) => write(given)))
    const members = Object.fromEntries(ways.map(([name], n) => [name, forms[n]]))
    response
      .writeHead(200, {
        'content-type': `application/json; a=${forms[0]}`,
        'payment-receipt': receiptFor(visit.credential as PaymentCredential, {
          reference: forms[0] as string,
        }),
      })
      .end(JSON.stringify({ price: 2.5, ...members }))
  }
  const url = merchant.sells('/echo-in-forms', demand(), echo)
  const payer = await aPayer(service)
  const again = { idempotencyKey: 'echo-in-forms' }
  const first = await pay(payer, url, {}, again)
  expect(first.body).toMatchObject({
    receipt: null,
    note: 'The receipt contains what the merchant was sent.',
    merchant_body: { price: 2.5, masked: true },
  })
  expect((await pay(payer, url, {}, again)).body).toEqual(first.body)
  const answered = JSON.stringify(first.body)
  expect(ways.filter((_, n) => answered.includes((forms[n] as string).slice(-40, -10)))).toEqual([])
  for (const form of forms) expect(await tablesWith(service, form.slice(0, -10))).toEqual([])
})

test('an honest answer of many ids, digests and times is given as it is', async () => {
  const orders = Array.from({ length: 2_000 }, (_, n) => ({
    id: crypto.randomUUID(),
    digest: hash('sha256', `order ${n}`),
    at: new Date(1.76e12 + n * 77_777).toISOString(),
    number: 1_000_000_000_000 + n * 7_919,
  }))
  const sold = answerWith(200, { 'content-type': 'application/json' }, JSON.stringify({ orders }))
  const url = merchant.sells('/honest', demand(), sold)
  const { body } = await pay(await aPayer(service), url)
  expect(body.merchant_body).toEqual({ orders })
})
