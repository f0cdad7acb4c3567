import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../support/harness.ts'
import { exchange, type RawAnswer, request } from '../../support/http/raw.ts'

const service = await startTestService()
const owner = await service.owner()
const auth = { Authorization: `Bearer ${owner.key}` }
const json = { ...auth, 'Content-Type': 'application/json' }

/** Checks what every error answer has, however broken the request was. */
function expectAnswer(answer: RawAnswer | undefined, status: number): void {
  expect(answer?.status).toBe(status)
  expect(answer?.headers.get('x-data-residency')).toBe('EU')
  expect(answer?.headers.get('x-request-id')).toMatch(/^[\w-]{36}$/)
  expect(answer?.headers.get('x-error-code')).toMatch(/^[a-z_]+$/)
  expect(Object.keys(JSON.parse(answer?.text ?? '{}'))).toEqual(['error'])
}

const head = (...lines: string[]): string => [...lines, '', ''].join('\r\n')

describe('invalid HTTP', () => {
  test.each([
    ['no request line', 'GARBAGE\r\n\r\n'],
    ['TLS', Buffer.from('160301020001000001fc0303', 'hex')],
    ['an unknown version', head('GET / HTTP/9.9', 'Host: x')],
    ['an unknown method', head('GRAB / HTTP/1.1', 'Host: x')],
    ['a header without a colon', head('GET / HTTP/1.1', 'Host: x', 'bad header')],
    ['a header with a space in its name', head('GET / HTTP/1.1', 'Host : x')],
    ['NUL in a header', head('GET / HTTP/1.1', 'Host: x', 'X-A: a\0b')],
    ['two lengths', head('POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2')],
    [
      'a length and chunks',
      head('POST / HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
    ],
    ['two Host headers', head('GET /health HTTP/1.1', 'Host: x', 'Host: y')],
    ['a length that is none', head('POST / HTTP/1.1', 'Host: x', 'Content-Length: -1')],
  ])('is refused: %s', async (_, bytes) => expectAnswer((await exchange(service.url, bytes))[0], 400))

  test('in the middle of a body is refused', async () => {
    const chunked = head('POST /policies HTTP/1.1', 'Host: x', ...lines(json), 'Transfer-Encoding: chunked')
    expectAnswer((await exchange(service.url, `${chunked}zz\r\n`))[0], 400)
  })

  test('with too large headers is refused', async () => {
    const [many] = await exchange(
      service.url,
      head('GET / HTTP/1.1', 'Host: x', `X-A: ${'x'.repeat(20_000)}`),
    )
    expectAnswer(many, 431)
    const [long] = await exchange(service.url, head(`GET /${'x'.repeat(20_000)} HTTP/1.1`, 'Host: x'))
    expectAnswer(long, 431)
  })

  test('without a Host header is refused', async () => {
    expectAnswer((await exchange(service.url, head('GET / HTTP/1.1')))[0], 400)
  })

  test('with an unknown expectation is refused', async () => {
    expectAnswer((await exchange(service.url, request('GET', '/health', { Expect: 'bananas' })))[0], 417)
  })
})

const lines = (headers: Record<string, string>): string[] =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`)

describe('a connection', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    request('POST', '/policies', { ...json, ...headers }, body)

  test.each([
    [404, request('GET', '/nowhere')],
    [404, request('GET', '/agents/%2e%2e', auth)],
    [405, request('DELETE', '/health')],
    [401, request('GET', '/agents')],
    [401, request('POST', '/agents', {}, `{"name":"${'x'.repeat(900_000)}"}`)],
    [403, request('GET', '/customers', auth)],
    [400, post('{"name":')],
    [400, post('{}')],
    [400, post('{"name":"a"}', { 'Idempotency-Key': 'a b' })],
    [413, post(`{"name":"${'x'.repeat(3_000_000)}"}`)],
    [415, post('{"name":"a"}', { 'Content-Type': 'text/plain' })],
    [415, post('{"name":"a"}', { 'Content-Encoding': 'gzip' })],
    [400, request('GET', '/agents?limit=0', auth)],
  ])('stays open after a %s', async (status, refused) => {
    const [first, second] = await exchange(service.url, refused, request('GET', '/health'))
    expectAnswer(first, status)
    expect(second?.status).toBe(200)
  })

  test('stays open after a body that is not read', async () => {
    const body = '{"name":"x"}'
    const [first, second] = await exchange(
      service.url,
      request('GET', '/health', {}, body),
      request('GET', '/health'),
    )
    expect([first?.status, second?.status]).toEqual([200, 200])
  })
})

describe('HEAD', () => {
  test('is answered like GET, without the body', async () => {
    const [head, get] = await exchange(
      service.url,
      request('HEAD', '/policies/presets', auth),
      request('GET', '/policies/presets', auth),
    )
    expect([head?.status, head?.text]).toEqual([200, ''])
    expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length'))
    expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type'))
  })

  test('is answered with 404 or 405 like GET', async () => {
    const answers = await exchange(
      service.url,
      request('HEAD', '/nowhere'),
      request('HEAD', '/keys/a/rotate'),
    )
    expect(answers.map(({ status }) => status)).toEqual([404, 405])
  })
})

describe('a request id', () => {
  const idOf = async (requestId?: string): Promise<string | null> => {
    const headers = requestId === undefined ? {} : { 'X-Request-Id': requestId }
    const [answer] = await exchange(service.url, request('GET', '/nowhere', headers))
    return answer?.headers.get('x-request-id') ?? null
  }

  test('is generated if none is sent', async () => {
    const [first, second] = [await idOf(), await idOf()]
    expect(first).toMatch(/^[0-9a-f-]{36}$/)
    expect(first).not.toBe(second)
  })

  test.each(['a', 'run-42/step-7', 'user@host:1.2', 'x'.repeat(128)])(
    'that is sent is used: %s',
    async requestId => expect(await idOf(requestId)).toBe(requestId),
  )

  test.each(['4242424242424242', 'order_4242-4242-4242-4242', 'pay:378282246310005'])(
    'with the number of a card is replaced: %s',
    async requestId => expect(await idOf(requestId)).toMatch(/^[0-9a-f-]{36}$/),
  )

  test.each([
    'order-4242424242424241',
    '1700000000000001',
    '018f3a54-2c4d-7123-8812-4242a4242424',
    'a4242424242424242',
  ])('with digits that are no number of a card is used: %s', async requestId =>
    expect(await idOf(requestId)).toBe(requestId),
  )

  test.each(['', 'a b', 'x'.repeat(129), '<script>', '"', 'é', 'a,b'])(
    'with unsafe characters is replaced: %j',
    async requestId => expect(await idOf(requestId)).toMatch(/^[0-9a-f-]{36}$/),
  )
})
