import { beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { renderDocs } from '../../../src/derive/docs/docs.ts'
import { openapiDocument } from '../../../src/derive/openapi/document.ts'
import type { ResponseObject } from '../../../src/derive/openapi/types.ts'
import { type RequestOptions, startTestService } from '../../support/harness.ts'
import { PAID_TABLES, paidArea } from '../../support/paid-noun.ts'
import { recordSql, type SqlRecorder } from '../../support/sql-recorder.ts'

const allAreas = { ...areas, meters: paidArea }
let recorder!: SqlRecorder
const service = await startTestService({
  areas: allAreas,
  through: async url => {
    recorder = await recordSql(url)
    return recorder.url
  },
  tables: PAID_TABLES,
  env: { PUBLIC_URL: 'https://pay.example.eu/' },
})
await service.owner()
const { host } = new URL(service.url)

beforeEach(() => service.sql('delete from sales'))

const ask = (method: string, headers: RequestOptions['headers'] = {}, options: RequestOptions = {}) =>
  service.http(method, '/meters/meter_1', { ...options, headers })
const pay = (credential = 'Payment x', options: RequestOptions = {}) =>
  ask('POST', { authorization: credential }, options)
const sales = () => service.sql('select credential, body, asked_at from sales')
const events = async () => (await service.sql(`select from events where event = 'meter.sold'`)).length

describe('an answer', () => {
  test('has the headers that its handler gives it', async () => {
    const { status, headers, body } = await pay()
    expect([status, body]).toEqual([200, { meterId: 'meter_1', credential: 'Payment x' }])
    expect([headers.get('payment-receipt'), headers.get('cache-control')]).toEqual(['Payment x', 'private'])
    expect(headers.has('www-authenticate')).toBe(false)
  })

  test('has them where no call is needed, too', async () => {
    const { headers } = await pay('Payment settled')
    expect(headers.get('payment-receipt')).toBe('Payment settled')
  })

  test.each([
    [
      'that is only read',
      undefined,
      'payment_required',
      'payment-required',
      'Payment required',
      'Pay first.',
    ],
    [
      'of a write',
      'Payment declined',
      'payment_declined',
      'verification-failed',
      'Payment declined',
      'The payment was declined. Pay by another card.',
    ],
  ])(
    '%s refuses with its headers and the body of its problem',
    async (_, authorization, code, type, title, detail) => {
      const { status, headers, body } = await ask('GET', authorization ? { authorization } : {})
      expect([status, headers.get('x-error-code')]).toEqual([402, code])
      expect(headers.get('content-type')).toBe('application/problem+json')
      expect(headers.get('www-authenticate')).toBe('Payment id="c1"')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(body).toEqual({
        type: `https://paymentauth.org/problems/${type}`,
        title,
        status: 402,
        detail,
        error: detail,
      })
    },
  )

  test('a refusal without a problem type keeps its usual form', async () => {
    const { headers, body } = await ask('GET', {}, {}).then(() => service.http('GET', '/meters/%20', {}))
    expect(headers.get('content-type')).toMatch(/^application\/json/)
    expect(Object.keys(body)).toEqual(['error'])
  })

  test.each([
    ['a header that the contract does not name', { name: 'X-Other', value: 'a', refuse: false }],
    ['one that it names for another status', { name: 'Payment-Receipt', value: 'a', refuse: true }],
    ['a line break in a value', { name: 'Payment-Receipt', value: 'a\r\nX-Evil: 1', refuse: false }],
    ['text beyond Latin-1 in a value', { name: 'Payment-Receipt', value: 'Zoë ☕', refuse: false }],
  ])('with %s is a defect, and undoes what was done', async (_, body) => {
    const before = await events()
    const { status, headers } = await service.http('POST', '/meters/meter_1/echo', { body })
    expect(status).toBe(500)
    expect([headers.has('x-other'), headers.has('x-evil'), headers.has('payment-receipt')]).toEqual([
      false,
      false,
      false,
    ])
    expect(await events()).toBe(before)
  })
})

describe('a handler', () => {
  test('sees the headers that its contract names, and no other', async () => {
    await ask('POST', { 'payment-authorization': 'Payment own', 'accept-payment': 'card', cookie: 'a=b' })
    expect(await sales()).toMatchObject([{ credential: 'Payment own', asked_at: `${host} card` }])
  })

  test('that its contract does not let read the request is a defect', async () => {
    const { status } = await service.http('POST', '/meters/meter_1/curious', {})
    expect(status).toBe(500)
  })

  test.each(['text/plain', 'application/octet-stream', 'application/json', undefined])(
    'gets the body of type %s as it came',
    async type => {
      const bytes = Buffer.from([0, 255, 123, 34, 0])
      const response = await fetch(`${service.url}/meters/meter_1`, {
        method: 'POST',
        headers: { authorization: 'Payment x', ...(type ? { 'content-type': type } : {}) },
        body: bytes,
      })
      expect(response.status).toBe(200)
      expect((await sales())[0]?.body).toEqual(bytes)
    },
  )

  test('gets no body above the limit of its contract', async () => {
    const most = 'x'.repeat(262_144)
    expect((await pay('Payment x', { body: most })).status).toBe(200)
    const { status, headers } = await pay('Payment x', { body: `${most}x` })
    expect([status, headers.get('x-error-code')]).toEqual([413, 'body_too_large'])
    expect((await sales()).length).toBe(1)
  })
})

describe('the host of a request', () => {
  test.each([
    ['its own listener', host, host],
    ['the same by its name', host.replace('127.0.0.1', 'localhost'), host.replace('127.0.0.1', 'localhost')],
    ['its public address', 'pay.example.eu', 'pay.example.eu'],
    ['the same with its port', 'PAY.example.eu:443', 'pay.example.eu'],
    ['anything else', 'evil.example', 'pay.example.eu'],
    ['another port', '127.0.0.1:1', 'pay.example.eu'],
  ])('is %s, as the service knows itself', async (_, asked, known) => {
    const { request } = await import('node:http')
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>()
    request(`${service.url}/meters/meter_1`, {
      method: 'POST',
      headers: { host: asked, authorization: 'Payment x' },
    })
      .on('response', response => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
    expect(await promise).toBe(200)
    expect((await sales())[0]?.asked_at).toBe(known)
  })
})

describe('a GET that writes', () => {
  test('writes, with its events', async () => {
    const before = await events()
    expect((await ask('GET', { authorization: 'Payment x' })).status).toBe(200)
    expect([(await sales()).length, await events()]).toEqual([1, before + 1])
  })

  test.each(['authorization', 'payment-authorization'])(
    'answers HEAD as it answers without %s, and sells nothing',
    async header => {
      const before = await events()
      const [head, unpaid] = await Promise.all([ask('HEAD', { [header]: 'Payment x' }), ask('GET')])
      expect([head.status, head.text]).toEqual([402, ''])
      for (const name of ['www-authenticate', 'x-error-code', 'content-type', 'content-length'])
        expect([name, head.headers.get(name)]).toEqual([name, unpaid.headers.get(name)])
      expect([await sales(), await events()]).toEqual([[], before])
    },
  )

  test('opens no transaction where reading is enough', async () => {
    await recorder.measure('unpaid', () => ask('GET'))
    await recorder.measure('paid', () => pay())
    const began = (name: string) =>
      [...(recorder.statements.get(name) ?? [])].some(text => /^begin/.test(text))
    expect([began('unpaid'), began('paid')]).toEqual([false, true])
  })
})

describe('a payment', () => {
  test.each(['Payment x', 'Payment'])('as %s opens no operation that takes keys', async authorization => {
    const { status, headers } = await service.http('GET', '/agents', { headers: { authorization } })
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('is never answered from an idempotency key, which knows nothing of it', async () => {
    const key = { 'idempotency-key': 'same' }
    expect((await ask('POST', key)).status).toBe(402)
    expect((await ask('POST', { ...key, authorization: 'Payment x' })).status).toBe(200)
    expect(await service.sql(`select from idempotency_keys where key = 'same'`)).toEqual([])
  })
})

describe('the document', () => {
  const document = openapiDocument({ meters: paidArea })
  const { paths, components } = document
  const path = paths['/meters/{id}']

  test('names the headers of each answer, and what the request may carry', () => {
    const names = (status: string) =>
      Object.keys((path?.get?.responses[status] as ResponseObject | undefined)?.headers ?? {}).filter(
        name => !/^X-/.test(name),
      )
    expect([names('200'), names('402')]).toEqual([['Payment-Receipt', 'Cache-Control'], ['WWW-Authenticate']])
    const parameters = JSON.stringify(path?.post?.parameters)
    expect(parameters).toMatch(/Payment-Authorization.*Accept-Payment/)
    expect(parameters).not.toMatch(/"Authorization"|IdempotencyKey/)
    expect(path?.post?.security).toEqual([{ payment: [] }, {}])
    expect(path?.post?.requestBody?.content).toEqual({
      '*/*': { schema: { type: 'string', format: 'binary' } },
    })
    expect(path?.get?.['x-payment-info']).toEqual({
      amount: '100',
      currency: 'eur',
      method: 'card',
      intent: 'charge',
    })
  })

  test('shows the body of each problem', () => {
    const refusal = path?.get?.responses['402'] as ResponseObject | undefined
    const content = refusal?.content ?? {}
    expect(Object.keys(content)).toEqual(['application/problem+json'])
    expect(content['application/problem+json']?.examples).toMatchObject({
      payment_required: { value: { title: 'Payment required', status: 402, error: 'Pay first.' } },
    })
    expect(components.schemas.Problem?.required).toContain('error')
  })

  test('the page of a paid operation shows callers, request, answer and refusals', () => {
    const page = String(renderDocs(document).files.get('/docs/api/meters.show')?.content ?? '')
    const section = page.slice(page.indexOf('<main'))
    expect(section).toContain('anyone who pays')
    expect(section).toMatch(/>Headers<\/a>[\s\S]*Payment-Authorization[\s\S]*The payment, where/)
    expect(section).toMatch(/Headers of the answer[\s\S]*Payment-Receipt[\s\S]*200[\s\S]*What was paid/)
    expect(section).toMatch(/WWW-Authenticate[\s\S]*402[\s\S]*How to pay/)
    expect(section).toMatch(/402[\s\S]*payment_required[\s\S]*Pay first\./)
    expect(section).not.toContain('X-Run-Id')
  })
})
