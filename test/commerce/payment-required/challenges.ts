import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { contentDigest } from '../../../src/mpp/index.ts'
import {
  ask,
  challengeOf,
  credentialFor,
  keyIn,
  offeredIn,
  present,
} from '../../support/commerce/machine-payer.ts'
import { startTestService } from '../../support/harness.ts'
import { aPayee } from './service.ts'

const service = await startTestService()
const { create, client, get, settlements, urlOf, owner } = await aPayee(service)
const request = await create()
const url = urlOf(request.id)
const host = new URL(service.url).host

describe('a payment request without a credential', () => {
  test('answers 402 with one quoted challenge and a problem, and nothing may be stored', async () => {
    const { status, headers, body, challenges } = await ask(url)
    expect({ status, challenges: challenges.length }).toEqual({ status: 402, challenges: 1 })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(headers.get('www-authenticate')).toMatch(
      /^Payment id="[\w-]{43}", realm="[^"]+", method="card", intent="charge", request="[\w-]+", expires="[^"]+", opaque="[\w-]+"$/,
    )
    expect(headers.get('payment-receipt')).toBeNull()
    const detail = expect.stringContaining('Pay the challenge')
    const type = 'https://paymentauth.org/problems/payment-required'
    expect(body).toEqual({ type, title: 'Payment Required', status: 402, detail, error: detail })
    expect(headers.get('x-error-code')).toBe('payment_required')
  })

  test('challenges for the amount due, in its owner’s name, at the requested host', async () => {
    const challenge = await challengeOf(url)
    expect(challenge).toMatchObject({ realm: host, method: 'card', intent: 'charge' })
    const { amount, currency, description, externalId, methodDetails } = offeredIn(challenge)
    const [{ name } = { name: '' }] = await service.sql<{ name: string }>(
      'select name from customers where id = $1',
      [owner.ownerId],
    )
    expect({ amount, currency, description, externalId }).toEqual({
      amount: 1_250n,
      currency: 'eur',
      description: request.description,
      externalId: request.id,
    })
    expect(methodDetails).toMatchObject({ merchantName: name, acceptedNetworks: ['visa', 'mastercard'] })
    expect(JSON.stringify(methodDetails)).not.toMatch(/"[dpq]"/)
    expect(keyIn(challenge)).toMatchObject({ use: 'enc', alg: 'RSA-OAEP-256' })
  })

  test('gives every challenge its own id, even within a second', async () => {
    const challenges = await Promise.all(Array.from({ length: 20 }, () => challengeOf(url)))
    expect(new Set(challenges.map(({ id }) => id)).size).toBe(20)
    expect(new Set(challenges.map(({ request }) => request)).size).toBe(1)
  })

  test('changes nothing', async () => {
    const tables = ['mpp_settlements', 'request_payments', 'events', 'outbox']
    const counts = () =>
      Promise.all(tables.map(table => service.sql(`select count(*)::int as n from ${table}`)))
    const before = await counts()
    await ask(url)
    await present(url, 'Payment garbage')
    expect(await counts()).toEqual(before)
  })

  test('binds the challenge to the body of a POST, and to its absence', async () => {
    const init = { method: 'POST', body: '{"a": 1}', headers: { 'content-type': 'text/anything' } }
    const challenge = await challengeOf(url, init)
    expect(challenge.digest).toBe(contentDigest('{"a": 1}'))
    const other = await present(url, credentialFor(challenge), { ...init, body: '{"a": 2}' })
    expect(other).toMatchObject({ status: 402, body: { title: 'Invalid Challenge' } })
    expect(await present(url, credentialFor(challenge))).toMatchObject({ status: 402 })
    const bare = await challengeOf(url)
    expect(bare.digest).toBeUndefined()
    expect(await present(url, credentialFor(bare), init)).toMatchObject({ status: 402 })
    const own = await create()
    const posted = await challengeOf(urlOf(own.id), init)
    expect(await present(urlOf(own.id), credentialFor(posted), init)).toMatchObject({ status: 200 })
  })

  test.each([
    ['tempo/charge, */*;q=0', ['card']],
    ['garbage', ['card']],
    ['card/charge', ['card']],
    ['tempo/charge, stripe/*;q=0.5', ['stripe']],
    ['stripe/charge, card/charge', ['card', 'stripe']],
    ['stripe', ['stripe']],
    ['stripe;q=0.5, tempo', ['stripe']],
  ])(
    'is offered the methods of Accept-Payment %s, or the card if it has none of them',
    async (accepted, methods) => {
      const { challenges } = await ask(url, { headers: { 'accept-payment': accepted } })
      expect(challenges.map(({ method }) => method)).toEqual(methods)
    },
  )

  test('presents nothing with a credential of another scheme', async () => {
    for (const authorization of ['Bearer abc', `Bearer ${owner.key}`, 'Basic Payment'])
      expect(await ask(url, { headers: { authorization } })).toMatchObject({
        status: 402,
        body: { title: 'Payment Required' },
      })
  })

  test('answers HEAD with a challenge, and a valid credential pays nothing by HEAD', async () => {
    const own = await create()
    const address = urlOf(own.id)
    const credential = credentialFor(await challengeOf(address))
    for (const header of ['authorization', 'payment-authorization']) {
      const head = await fetch(address, { method: 'HEAD', headers: { [header]: credential } })
      expect([head.status, await head.text(), head.headers.get('payment-receipt')]).toEqual([402, '', null])
      expect(head.headers.get('www-authenticate')).toMatch(/^Payment id=/)
    }
    expect([await settlements(own.id), (await get(own.id)).status]).toEqual([[], 'open'])
    expect((await present(address, credential)).status).toBe(200)
    expect([(await settlements(own.id)).length, (await get(own.id)).status]).toEqual([1, 'paid'])
    expect((await fetch(address, { method: 'HEAD' })).status).toBe((await ask(address)).status)
    expect((await fetch(urlOf('request_none'), { method: 'HEAD' })).status).toBe(404)
  })

  test('is found at its other addresses, too', async () => {
    for (const path of ['/v1/collect/402/', '/claim/402/'])
      expect((await ask(service.url + path + request.id)).status).toBe(402)
  })

  test('expires with the request, if that is earlier than five minutes', async () => {
    const short = await create({ expiresInHours: 1 })
    await client.sandbox.advance({ body: { minutes: 57 } })
    expect((await challengeOf(urlOf(short.id))).expires).toBe(short.expiresAt)
  })
})

describe('an address', () => {
  test('of no request is 404, with any credential', async () => {
    const other = urlOf('request_01jd8x2m4ye7k9v0c3q5r6t8wz')
    expect((await ask(other)).status).toBe(404)
    expect((await present(other, credentialFor(await challengeOf(url)))).status).toBe(404)
  })

  test('is described with what it costs, and with the headers that it sends', () => {
    const { paths, components } = JSON.parse(readFileSync('openapi.json', 'utf8'))
    const headersOf = (answer: { $ref: string }) =>
      Object.keys(components.responses[String(answer.$ref.split('/').at(-1))].headers)
    const { get, post } = paths['/collect/402/{id}']
    for (const operation of [get, post]) {
      expect(operation['x-payment-info']).toEqual({
        offers: ['card', 'stripe'].map(method => ({
          method,
          intent: 'charge',
          currency: 'eur',
          amount: null,
        })),
      })
      expect(headersOf(operation.responses[402])).toContain('WWW-Authenticate')
      expect(headersOf(operation.responses[200])).toContain('Payment-Receipt')
    }
  })
})
