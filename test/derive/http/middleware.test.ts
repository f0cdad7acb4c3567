import { describe, expect, test } from '@jest/globals'
import type { RequestHandler } from 'express'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const seen: string[] = []

const gatewayHeader: RequestHandler = (_request, response, next) => {
  response.setHeader('X-Gateway', 'payments-1')
  next()
}

const accessLog: RequestHandler = (request, response, next) => {
  const { method, originalUrl } = request
  response.once('finish', () => seen.push(`${method} ${originalUrl.split('?')[0]} ${response.statusCode}`))
  next()
}

const closed: RequestHandler = (request, response, next) => {
  if (request.headers['x-closed']) response.status(403).json({ error: 'Closed by the gateway.' })
  else next()
}

const broken: RequestHandler = async ({ headers }, _response, next) => {
  if (headers['x-broken']) throw new Error('the gateway has no key')
  next()
}

const decoding: RequestHandler = ({ headers }, _response, next) => {
  decodeURIComponent(String(headers['x-decoded'] ?? ''))
  next()
}

const service = await startTestService({ middleware: [gatewayHeader, accessLog, closed, broken, decoding] })

describe("an operator's middleware", () => {
  test.each([
    ['GET', '/health', 200],
    ['GET', '/v1/agents?limit=1', 401],
    ['GET', '/v1/nothing', 404],
    ['PATCH', '/v1/agents', 405],
    ['GET', '/v1/agents/%zz', 404],
  ])('sees %s %s as it was sent, and its answer has the header', async (method, path, status) => {
    const answer = await service.http(method, path)
    expect([answer.status, answer.headers.get('x-gateway')]).toEqual([status, 'payments-1'])
    const line = `${method} ${path.split('?')[0]} ${status}`
    await until('it is logged', () => seen.includes(line))
  })

  test('leaves the headers and the refusals of the service as they are', async () => {
    const { headers, body } = await service.http('GET', '/v1/agents')
    expect(headers.get('x-request-id')).toMatch(/^[\w-]{20,}$/)
    expect([headers.get('x-data-residency'), headers.get('cache-control')]).toEqual(['EU', 'no-store'])
    expect(body.error).toContain('Authorization')
  })

  test('answers a request itself, which then reaches no operation', async () => {
    const { client, key } = await service.owner()
    const answer = await service.http('POST', '/v1/agents', {
      token: key,
      headers: { 'x-closed': '1' },
      body: { name: 'Closed', type: 'autonomous' },
    })
    expect([answer.status, answer.body]).toEqual([403, { error: 'Closed by the gateway.' }])
    expect((await client.agents.list()).body).toMatchObject({ data: [] })
  })

  test.each([{ 'x-broken': '1' }, { 'x-decoded': '%zz' }])(
    'that fails by %j is answered with 500 and a request id, and not with its error',
    async given => {
      const { status, headers, text } = await service.http('GET', '/health', { headers: given })
      expect([status, JSON.parse(text)]).toEqual([500, { error: expect.stringContaining('X-Request-Id') }])
      expect(headers.get('x-request-id')).toMatch(/^[\w-]{20,}$/)
      expect(text).not.toContain('gateway')
    },
  )
})
