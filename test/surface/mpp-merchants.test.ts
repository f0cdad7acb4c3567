import { readFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { parseReceipt } from '../../src/mpp/index.ts'
import { merchantScenarioNames } from '../../src/surface/mpp-merchants/scenarios.ts'
import {
  ask,
  challengeOf,
  credentialFor,
  keyIn,
  offeredIn,
  pay,
  present,
} from '../support/commerce/machine-payer.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService()
const urlOf = (scenario: string) => `${service.url}/simulate/mpp/${scenario}`
const settlementsOf = (scenario: string) =>
  service.sql<{ status: string; amount: string }>(
    'select status, amount_cents::text as amount from mpp_settlements where scenario = $1',
    [scenario],
  )

const good = await challengeOf(urlOf('paid'))

describe('the good merchant', () => {
  test('charges the card once for a challenge, and gives the same answer again', async () => {
    const url = `${urlOf('paid')}?amountEuros=7.5`
    const challenge = await challengeOf(url)
    expect(offeredIn(challenge)).toMatchObject({ amount: 750n, currency: 'eur', externalId: 'paid' })
    const value = credentialFor(challenge)
    const answers = [await present(url, value), await present(url, value)]
    expect(answers.map(({ text }) => text)).toEqual(Array(2).fill(answers[0]?.text))
    expect(answers[0]).toMatchObject({
      status: 200,
      body: { scenario: 'paid', amountEuros: 7.5 },
      receipt: { challengeId: challenge.id, externalId: 'paid' },
    })
    expect(await settlementsOf('paid')).toEqual([{ status: 'paid', amount: '750' }])
  })

  /** `fetch` cannot read the headers of ten thousand challenges. */
  const readable = merchantScenarioNames.filter(name => name !== 'many-challenges')

  test.each(readable)('%s answers HEAD as GET without a credential, and charges nothing', async scenario => {
    const url = urlOf(scenario)
    const before = await settlementsOf(scenario)
    const [head, unpaid] = await Promise.all([
      ask(url, { method: 'HEAD', headers: { authorization: credentialFor(good) } }),
      ask(url),
    ])
    expect([head.status, head.text]).toEqual([unpaid.status, ''])
    expect(head.headers.has('www-authenticate')).toBe(unpaid.headers.has('www-authenticate'))
    expect(await settlementsOf(scenario)).toEqual(before)
  })

  test('does not take the price of one for the other', async () => {
    const cheap = credentialFor(await challengeOf(`${urlOf('paid')}?amountEuros=0.01`))
    expect(await present(`${urlOf('paid')}?amountEuros=10`, cheap)).toMatchObject({ status: 402 })
    expect(await present(urlOf('slow'), credentialFor(good))).toMatchObject({ status: 402 })
  })

  test('is paid by POST, and asked again by the sweep if the acquirer does not answer', async () => {
    const init = { method: 'POST', body: 'anything' }
    expect(await pay(urlOf('paid'), {}, init)).toMatchObject({ status: 200 })
    expect(await pay(urlOf('paid'), { number: '4000000000000002' })).toMatchObject({ status: 402 })
    expect(await pay(urlOf('paid'), { number: '4000000000000119' })).toMatchObject({ status: 504 })
  })

  test('refuses prices that are none', async () => {
    for (const amount of ['0', '0.00', '-1', '1001', '1.234', 'x'])
      expect((await ask(`${urlOf('paid')}?amountEuros=${amount}`)).status).toBe(400)
  })
})

describe('a merchant that asks for money as it should not', () => {
  test.each([
    ['no-challenge', []],
    ['other-methods', [{ method: 'tempo' }]],
  ])('%s', async (scenario, challenges) => {
    expect(await ask(urlOf(scenario))).toMatchObject({ status: 402, challenges })
  })

  test('offers another protocol by name', async () => {
    expect((await ask(urlOf('other-methods'))).headers.get('www-authenticate')).toMatch(/^Bearer /)
  })

  test('wants nothing, or sends elsewhere', async () => {
    expect(await ask(urlOf('free'))).toMatchObject({ status: 200, receipt: undefined })
    const moved = await ask(urlOf('redirect'))
    expect([moved.status, moved.headers.get('location')]).toEqual([302, 'http://169.254.169.254/'])
  })

  test('offers 10,000 challenges', async () => {
    const offered = await new Promise<string>((resolve, reject) => {
      const options = { maxHeaderSize: 2_000_000 }
      httpRequest(urlOf('many-challenges'), options, answer => {
        answer.resume().on('end', () => resolve(String(answer.headers['www-authenticate'])))
      })
        .on('error', reject)
        .end()
    })
    expect(offered.match(/Payment /g)).toHaveLength(10_000)
  })

  test('lies about time, currency, key, body and name', async () => {
    const of = async (scenario: string) => {
      const { challenges } = await ask(urlOf(scenario))
      return challenges[0] ?? good
    }
    expect(Date.parse(String((await of('expired')).expires))).toBeLessThan(Date.now())
    expect(offeredIn(await of('other-currency')).currency).toBe('usd')
    expect(() => keyIn({ ...good })).not.toThrow()
    const weak = offeredIn(await of('weak-key')).methodDetails.encryptionJwk as { n: string }
    expect(weak.n).toHaveLength(171)
    expect(offeredIn(await of('foreign-keys')).methodDetails).toMatchObject({
      jwksUri: 'https://keys.example.net/jwks.json',
    })
    expect(offeredIn(await of('two-keys')).methodDetails).toMatchObject({
      encryptionJwk: {},
      jwksUri: expect.any(String),
    })
    expect((await of('other-digest')).digest).toMatch(/^sha-256=:/)
    expect(offeredIn(await of('other-name')).methodDetails.merchantName).toBe('bookshop.example')
  })
})

describe('a merchant that is shown a credential', () => {
  test('and asks for more, or again, or refuses, charges nothing', async () => {
    const raised = await pay(urlOf('price-raised'))
    expect(raised.status).toBe(402)
    expect(raised.challenges.map(challenge => offeredIn(challenge).amount)).toEqual([2_500n])
    expect(await pay(urlOf('asks-again'))).toMatchObject({ status: 402, challenges: [{ method: 'card' }] })
    expect(await pay(urlOf('forbidden'))).toMatchObject({ status: 403 })
    expect(await pay(urlOf('failed'))).toMatchObject({ status: 500, receipt: undefined })
    for (const scenario of ['price-raised', 'asks-again', 'forbidden', 'failed'])
      expect(await settlementsOf(scenario)).toEqual([])
  })

  test('and charges, but fails, gives a receipt on an error', async () => {
    const url = urlOf('charged-and-failed')
    const value = credentialFor(await challengeOf(url))
    for (const answer of [await present(url, value), await present(url, value)])
      expect(answer).toMatchObject({ status: 500, receipt: { status: 'success' } })
    expect(await settlementsOf('charged-and-failed')).toMatchObject([{ status: 'paid' }])
  })

  test.each([
    ['no-receipt', undefined],
    ['forged-receipt', { method: 'tempo' }],
    ['foreign-receipt', { challengeId: 'of-another-challenge' }],
    ['old-receipt', { status: 'success' }],
  ])('and charges it, gives %s', async (scenario, receipt) => {
    const paid = await pay(urlOf(scenario))
    expect(paid.status).toBe(200)
    expect(paid.receipt).toEqual(receipt === undefined ? undefined : expect.objectContaining(receipt))
    expect(await settlementsOf(scenario)).toMatchObject([{ status: 'paid' }])
  })

  test('and charges it, hangs up after the headers', async () => {
    const url = urlOf('cut-off')
    const value = credentialFor(await challengeOf(url))
    const answer = await fetch(url, { headers: { authorization: value } })
    expect(answer.status).toBe(200)
    expect(parseReceipt(String(answer.headers.get('payment-receipt')))).toMatchObject({ status: 'success' })
    await expect(answer.text()).rejects.toThrow()
    expect(await settlementsOf('cut-off')).toMatchObject([{ status: 'paid' }])
  })

  test('and charges it, never comes to an end', async () => {
    for (const scenario of ['endless', 'slow']) {
      const url = urlOf(scenario)
      const authorization = credentialFor(await challengeOf(url))
      const leaving = new AbortController()
      const answer = await fetch(url, { headers: { authorization }, signal: leaving.signal })
      expect(answer.status).toBe(200)
      expect((await answer.body?.getReader().read())?.done).toBe(false)
      leaving.abort()
      expect(await settlementsOf(scenario)).toMatchObject([{ status: 'paid' }])
    }
  })
})

test('each scenario is described, and no other is known', async () => {
  const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
  const { description } = paths['/simulate/mpp/{scenario}'].get
  expect(merchantScenarioNames.filter(name => !description.includes(`\`${name}\``))).toEqual([])
  expect(await ask(urlOf('toString'))).toMatchObject({ status: 404 })
})
