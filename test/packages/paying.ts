import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { clientClass } from '../../src/packages/typescript/client.ts'
import type { FetchOptions } from '../../src/packages/typescript/fetch-paid.ts'
import { anIntent, bodyOf } from '../support/factories.ts'
import { json, refusal } from '../support/packages/answers.ts'
import { aBuyer } from '../support/packages/buyer.ts'
import { folder, service } from './installed-service.ts'

interface Payer {
  fetch(url: string, options: FetchOptions): Promise<Response>
  callTool(client: object, call: object, options: object | undefined): Promise<unknown>
}

const Client = clientClass({ mpp: { mint: 'POST /v1/mpp/credentials bk' } })
const SHOP = 'https://shop.example/report'
const asksToPay = () =>
  new Response('', { status: 402, headers: { 'www-authenticate': 'Payment id="1", method="card"' } })
const minted = (header: string) => json({ header, credential: 'Payment secret' })

function aPayer(answers: readonly Response[]) {
  const left = [...answers]
  const sent: { url: string; init: RequestInit }[] = []
  const fetch = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    sent.push({ url: String(url), init })
    return left.shift() ?? refusal(500, 'one_request_more_than_was_expected')
  }
  const pay = new Client({ url: 'https://pay.example', token: 'a', fetch, retries: 0 }) as Payer
  return { pay, sent }
}

describe('fetch of the package', () => {
  test('returns an answer that has no challenge, and mints nothing', async () => {
    for (const answer of [new Response('free'), new Response('', { status: 402 })]) {
      const { pay, sent } = aPayer([answer])
      expect(await pay.fetch(SHOP, { intentId: 'intent_1' })).toBe(answer)
      expect(sent).toHaveLength(1)
    }
  })

  test.each<[string, object | undefined]>([
    ['pay.fetch: intentId is a text', undefined],
    ['intent is no option of pay.fetch: write intentId', { intent: 'intent_1' }],
    ['retries is no option of pay.fetch: it takes intentId, ', { intentId: 'intent_1', retries: 3 }],
    ['pay.fetch: method is GET, POST, PUT, PATCH or DELETE', { intentId: 'intent_1', method: 'get' }],
    ['pay.fetch: body is a text', { intentId: 'intent_1', body: { page: 1 } }],
  ])('says what it takes, and sends nothing: %s', async (sentence, options) => {
    const { pay, sent } = aPayer([])
    await expect(pay.fetch(SHOP, options as FetchOptions)).rejects.toThrow(sentence)
    expect(sent).toEqual([])
  })

  test.each<[string, object, object | undefined]>([
    [
      'args is no option of the call of pay.callTool',
      { name: 'report', args: {} },
      { intentId: 'intent_1', url: SHOP },
    ],
    ['the call of pay.callTool: name is a text', {}, { intentId: 'intent_1', url: SHOP }],
    ['pay.callTool: intentId is a text', { name: 'report' }, undefined],
    ['pay.callTool: url is a text', { name: 'report' }, { intentId: 'intent_1' }],
    [
      'card is no option of pay.callTool: write cardId',
      { name: 'report' },
      { intentId: 'intent_1', url: SHOP, card: 'a' },
    ],
  ])('callTool says what it takes, and calls nothing: %s', async (sentence, call, options) => {
    const called: unknown[] = []
    const client = { callTool: async (one: unknown) => called.push(one) }
    await expect(aPayer([]).pay.callTool(client, call, options)).rejects.toThrow(sentence)
    expect(called).toEqual([])
  })

  test('is refused as the minting is, and sends nothing more', async () => {
    const { pay, sent } = aPayer([asksToPay(), refusal(400, 'amount_above_held')])
    await expect(pay.fetch(SHOP, { intentId: 'intent_1' })).rejects.toMatchObject({
      code: 'amount_above_held',
    })
    expect(sent).toHaveLength(2)
  })

  test('sends the same request again with the credential in the header of the challenge, and follows nothing', async () => {
    const { pay, sent } = aPayer([asksToPay(), minted('Payment-Authorization'), new Response('goods')])
    const headers = { authorization: 'Basic own', 'content-type': 'application/json' }
    const answer = await pay.fetch(SHOP, { intentId: 'intent_1', cardId: 'card_1', headers, body: '{}' })
    expect(await answer.text()).toBe('goods')
    expect(sent.map(({ url, init }) => [url, init.method, init.redirect])).toEqual([
      [SHOP, 'POST', 'manual'],
      ['https://pay.example/v1/mpp/credentials', 'POST', 'manual'],
      [SHOP, 'POST', 'manual'],
    ])
    expect(JSON.parse(String(sent[1]?.init.body))).toEqual({
      url: SHOP,
      challenge: 'Payment id="1", method="card"',
      intentId: 'intent_1',
      cardId: 'card_1',
      method: 'POST',
      body: '{}',
    })
    expect(sent[2]?.init.body).toBe('{}')
    const asking = { ...headers, 'accept-payment': 'card/charge, stripe/charge' }
    expect(Object.fromEntries(new Headers(sent[0]?.init.headers))).toEqual(asking)
    expect(Object.fromEntries(new Headers(sent[2]?.init.headers))).toEqual({
      ...asking,
      'payment-authorization': 'Payment secret',
    })
  })

  test('names the caller’s own methods of payment, if there are any', async () => {
    const { pay, sent } = aPayer([new Response('free')])
    await pay.fetch(SHOP, { intentId: 'intent_1', headers: { 'Accept-Payment': 'stripe' } })
    expect(new Headers(sent[0]?.init.headers).get('accept-payment')).toBe('stripe')
  })

  test('replaces the caller’s own credential where the challenge needs its header', async () => {
    const { pay, sent } = aPayer([asksToPay(), minted('Authorization'), new Response('goods')])
    await pay.fetch(SHOP, { intentId: 'intent_1', headers: { authorization: 'Basic own' } })
    expect(new Headers(sent[2]?.init.headers).get('authorization')).toBe('Payment secret')
  })

  test('buys from a merchant once per intent', async () => {
    const { client, agent, env, shop } = await aBuyer(service)
    const intent = await anIntent(client, agent.id, { merchant: '127.0.0.1', amountEuros: 2 })
    writeFileSync(
      join(folder, 'buying.mjs'),
      `import { AgentPay } from 'agentpay'
const pay = new AgentPay()
const address = '${shop}?amountEuros=2'
const answer = await pay.fetch(address, { intentId: '${intent.id}' })
const { content } = await answer.json()
const again = await pay.fetch(address, { intentId: '${intent.id}' }).catch(({ code }) => code)
console.log(JSON.stringify([answer.status, answer.headers.has('payment-receipt'), content, again]))
`,
    )
    const { stdout } = await promisify(execFile)(process.execPath, ['buying.mjs'], { cwd: folder, env })
    expect(JSON.parse(stdout)).toEqual([200, true, 'What you have paid for.', 'intent_not_approved'])
    expect(await bodyOf(client.intents.get({ params: { id: intent.id } }))).toMatchObject({
      status: 'completed',
    })
  })
})
