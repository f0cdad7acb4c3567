import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { agentTokensIn } from '../../support/control/agent-tokens.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { token } = await agentTokensIn(service).anOwnerWithAgent()

const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** `fetch` does not allow a Host header. */
const post = (body: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; text: string }>(
    (resolve, reject) => {
      const all = {
        authorization: `Bearer ${token.token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      }
      const sent = request(new URL('/mcp', service.url), { method: 'POST', headers: all }, answer => {
        const pieces: Buffer[] = []
        answer.on('data', piece => pieces.push(piece))
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(pieces).toString(),
          }),
        )
      })
      sent.on('error', reject).end(body)
    },
  )

describe('the door for assistants', () => {
  test('takes a message, and answers it', async () => {
    const { status, text } = await post(JSON.stringify(LIST))
    expect([status, text]).toEqual([200, expect.stringContaining('declare_intent')])
  })

  test.each([
    ['another host', { host: 'evil.example' }, 'foreign_host'],
    ['our host at another port', { host: '127.0.0.1:1' }, 'foreign_host'],
    ['a page of another site', { origin: 'https://evil.example' }, 'foreign_origin'],
    ['a page without an origin', { origin: 'null' }, 'foreign_origin'],
    ['an origin that is none', { origin: 'x y' }, 'foreign_origin'],
  ])('is closed to %s', async (_, headers, code) => {
    const answer = await post(JSON.stringify(LIST), headers)
    expect([answer.status, answer.headers['x-error-code']]).toEqual([403, code])
  })

  test('is open to a page of the service itself', async () => {
    expect((await post(JSON.stringify(LIST), { origin: service.url })).status).toBe(200)
  })

  test.each([
    ['none', ''],
    ['an unknown key', 'Bearer sk_sandbox_4kQz0uT7hXw2mB9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ'],
  ])('says to a caller with a credential like this, how one is come by: %s', async (_, authorization) => {
    const answer = await post(JSON.stringify(LIST), { authorization })
    expect([answer.status, answer.headers['www-authenticate'], answer.text]).toEqual([
      401,
      expect.stringMatching(/^Bearer resource_metadata="http:\S+\/oauth-protected-resource\/mcp"$/),
      expect.stringContaining('agentpay login'),
    ])
  })

  test('names an address in its 401 that is there', async () => {
    const { text } = await post(JSON.stringify(LIST), { authorization: '' })
    const [, path = ''] = /POST (\/[\w/]+)/.exec(text) ?? []
    const { status, headers } = await service.http('POST', path, { body: {} })
    expect([path, status, headers.get('x-error-code')]).toEqual(['/sessions/device', 400, 'invalid_request'])
  })

  test.each([
    ['a batch', JSON.stringify([LIST, LIST]), {}, 400, -32_600],
    ['no JSON', '{', {}, 400, -32_700],
    ['nothing', '', {}, 400, -32_700],
    ['JSON that is nested too deeply', '['.repeat(2_000) + ']'.repeat(2_000), {}, 400, -32_700],
    ['a text that cannot be stored', JSON.stringify({ ...LIST, params: { a: '\u0000' } }), {}, 400, -32_700],
    ['a version of no time', JSON.stringify(LIST), { 'mcp-protocol-version': '1999-01-01' }, 400, -32_000],
  ])('answers %s with the error of the protocol', async (_, body, headers, status, code) => {
    const answer = await post(body, headers)
    expect([answer.status, JSON.parse(answer.text).error?.code]).toEqual([status, code])
  })

  test('refuses a message that is too large', async () => {
    const large = JSON.stringify({ ...LIST, params: { text: 'x'.repeat(1_048_576) } })
    const answer = await post(large)
    expect([answer.status, answer.headers['x-error-code']]).toEqual([413, 'body_too_large'])
  })

  test('names a number that is too large, and reveals no internal message', async () => {
    const given = '{"amountEuros":1e400,"merchant":"Bookshop","purpose":"A book"}'
    const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"declare_intent","arguments":${given}}}`
    const { status, text } = await post(call)
    expect([status, text]).toEqual([200, expect.stringContaining('amountEuros: this number is too large.')])
  })

  test('takes a notification without an answer', async () => {
    const { status, text } = await post(
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
    )
    expect([status, text]).toEqual([202, ''])
  })

  test.each(['GET', 'DELETE'])('has no sessions: %s is not known', async method => {
    const { status, headers } = await service.http(method, '/mcp', { token: String(token.token) })
    expect([status, headers.get('allow')]).toEqual([405, 'POST'])
  })

  test('ends with its credential', async () => {
    const { client, token: ended, agent } = await agentTokensIn(service).anOwnerWithAgent()
    await client.agentTokens.revoke({ params: { id: agent.id, tokenId: ended.id } })
    expect((await post(JSON.stringify(LIST), { authorization: `Bearer ${ended.token}` })).status).toBe(401)
  })
})
