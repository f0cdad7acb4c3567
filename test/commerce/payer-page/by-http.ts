import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { pay } from '../../support/commerce/machine-payer.ts'
import { aLiveClient, aWallet, bodyOf } from '../../support/factories.ts'
import { http, startTestService } from '../../support/harness.ts'
import { aRequest, customer, requests, secrets, service } from './payer-service.ts'

const read = (path: string, headers: Record<string, string> = {}) => service.http('GET', path, { headers })
const german = { 'accept-language': 'de-DE,de;q=0.9' }

describe('the page of a request', () => {
  test('the payer page shows payee, amount, purpose, deadline and the ways to pay', async () => {
    const { open } = requests
    const { status, headers, text } = await read(`/pay/${open.id}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const said of [
      '€\u00a012.50',
      customer.name,
      'Report 17',
      'Pay by',
      'This is a test',
      String(open.mppUrl),
    ])
      expect(text).toContain(said)
    expect(text).toContain('/v1/mpp/pay')
    expect(text).not.toContain('<script')
  })

  test.each([
    ['paid', 'Paid', 'Bezahlt'],
    ['cancelled', 'Cancelled', 'Zurückgezogen'],
    ['refunded', 'Refunded', 'Erstattet'],
  ] as const)(
    'that is %s says so in both languages, and shows no way to pay',
    async (state, english, inGerman) => {
      const path = `/pay/${requests[state].id}`
      for (const [headers, mark] of [
        [{}, english],
        [german, inGerman],
      ] as const) {
        const { status, text } = await read(path, headers)
        expect([status, text.includes(`>${mark}</p>`)]).toEqual([200, true])
        for (const way of ['IBAN', 'qr.svg', 'mpp/pay']) expect(text).not.toContain(way)
      }
      const code = await read(`${path}/qr.svg`)
      expect([code.status, code.headers.get('x-error-code')]).toEqual([410, 'request_not_open'])
    },
  )

  test('the payer page asks not to pay again while a payment is under way', async () => {
    const { id } = await aRequest()
    // The acquirer does not answer for this card, so the outcome is unknown.
    expect(await pay(`${service.url}/collect/402/${id}`, { number: '4000000000000119' })).toMatchObject({
      status: 504,
    })
    const { text } = await read(`/pay/${id}`)
    expect(text).toContain('Please do not pay again')
    for (const way of ['IBAN', 'qr.svg', 'mpp/pay']) expect(text).not.toContain(way)
    const code = await read(`/pay/${id}/qr.svg`)
    expect([code.status, code.headers.get('x-error-code')]).toEqual([409, 'payment_under_way'])
  })

  test('the payer page is cached privately for seconds, and loads only its style and pictures', async () => {
    const path = `/pay/${requests.open.id}`
    for (const [asked, language] of [
      [{}, 'en'],
      [german, 'de'],
    ] as const) {
      const { headers } = await read(path, asked)
      expect(Object.fromEntries(headers)).toMatchObject({
        'cache-control': 'private, max-age=10',
        'content-language': language,
        vary: 'Accept, Accept-Language',
        'referrer-policy': 'no-referrer',
        'content-security-policy':
          "default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      })
    }
    const code = await read(`${path}/qr.svg`)
    expect([code.status, code.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(code.headers.get('cache-control')).toBe('private, max-age=10')
    const { text } = await read(path)
    for (const [, address] of text.matchAll(/(?:href|src)="(assets[^"]+)"/g)) {
      const asset = await read(`/pay/${address}`)
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    expect((await service.http('HEAD', path)).status).toBe(200)
    expect((await read(`/v1${path}`)).text).toBe(text)
  })

  test('reveals neither the payer nor the unlocked content, on the page and in the QR code', async () => {
    for (const { id } of Object.values(requests))
      for (const path of [`/pay/${id}`, `/pay/${id}/qr.svg`]) {
        const { text } = await read(path)
        for (const secret of secrets) expect(text).not.toContain(secret)
      }
  })

  test('an unknown request is a readable page for people, and an error for programs', async () => {
    for (const id of [newId('request'), newId('agent'), 'x', requests.open.walletId]) {
      const page = await read(`/pay/${id}`, { accept: 'text/html,*/*;q=0.8', ...german })
      expect([page.status, page.headers.get('x-error-code')]).toEqual([404, 'request_not_found'])
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.text).toContain('Diese Zahlungsaufforderung gibt es nicht')
      const error = await read(`/pay/${id}`)
      expect([error.status, error.body]).toEqual([404, { error: 'No such payment request.' }])
      expect((await read(`/pay/${id}/qr.svg`)).status).toBe(404)
    }
    expect((await read('/pay/assets/nothing.css')).headers.get('x-error-code')).toBe('asset_not_found')
  })

  test('ends at its deadline by the clock of its owner, before anybody has noticed', async () => {
    const other = await service.owner()
    const { id: walletId } = await aWallet(other.client)
    const body = { walletId, amountEuros: 1, description: 'Soon over', expiresInHours: 1 }
    const { id } = await bodyOf(other.client.collect.create({ body }))
    await service.sql(
      `insert into tenant_clocks (owner_id, mode, offset_ms) values ($1, 'test', 3600000)
       on conflict (owner_id, mode) do update set offset_ms = 3600000`,
      [other.ownerId],
    )
    expect((await read(`/pay/${id}`)).text).toContain('This request has expired')
    expect((await read(`/pay/${id}/qr.svg`)).status).toBe(410)
    expect((await read(`/pay/${requests.open.id}`)).text).toContain('Payment request')
  })
})

const collecting = await startTestService({
  env: { COLLECTION_IBAN: 'DE02120300000000202051', ACCOUNT_HOLDER: 'Treuhand eG' },
})

describe('in live mode', () => {
  test('the money goes to the collection account, only by SEPA', async () => {
    const text = await pageOfLiveRequest(collecting)
    for (const said of ['Treuhand eG', 'DE02 1203 0000 0000 2020 51']) expect(text).toContain(said)
    for (const absent of ['BIC', 'mpp/pay', 'collect/402', 'test']) expect(text).not.toContain(absent)
  })

  test('there is no way to pay while the operator has set no account', async () => {
    const text = await pageOfLiveRequest(service)
    expect(text).toContain('This request cannot be paid at the moment')
  })
})

async function pageOfLiveRequest(of: typeof service): Promise<string> {
  const live = await aLiveClient(of, await of.owner())
  const { id: walletId } = await aWallet(live)
  const body = { walletId, amountEuros: 3, description: 'Live', expiresInHours: 1 }
  const { id } = await bodyOf(live.collect.create({ body }))
  const code = await http(of.url, 'GET', `/pay/${id}/qr.svg`, {})
  const { status, text } = await http(of.url, 'GET', `/pay/${id}`, {})
  expect(status).toBe(200)
  expect(code.status).toBe(text.includes('qr.svg') ? 200 : 503)
  return text
}
