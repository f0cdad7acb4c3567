import { createServer } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { guarded, textOf } from '../../support/http/guarded.ts'

const { strictGuard, receiver, names, listen, send } = await guarded()

let requests: {
  readonly path: string
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}[] = []
let connections = 0
const server = createServer(async (request, response) => {
  const { url: path = '', headers } = request
  const body = (await request.toArray()).join('')
  requests.push({ path, headers, body })
  response.setHeader('X-Twice', ['a', 'b'])
  if (path === '/close') response.setHeader('connection', 'close')
  response.end('hello')
}).on('connection', () => connections++)
const port = await listen(server)
const serverUrl = `http://127.0.0.1:${port}`

describe('a request', () => {
  test('reaches the receiver unchanged, and its answer is returned', async () => {
    requests = []
    const answer = await send(`${serverUrl}/a?b=c#d`, {
      headers: { 'X-Own': 'mine', 'accept-encoding': 'gzip' },
      body: 'é',
    })
    expect(answer).toMatchObject({
      kind: 'answered',
      status: 200,
      cut: false,
      headers: { 'x-twice': 'a, b' },
    })
    expect(textOf(answer)).toBe('hello')
    expect(requests).toMatchObject([{ path: '/a?b=c', body: 'é' }])
    expect(requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'x-own': 'mine',
      'accept-encoding': 'identity',
    })
  })

  test('has each header once, however its name is spelled', async () => {
    const names: string[][] = []
    const url = await receiver(({ rawHeaders }, response) => {
      names.push(rawHeaders.filter((_, n) => n % 2 === 0).map(name => name.toLowerCase()))
      response.end()
    })
    await send(url, { headers: { 'User-Agent': 'mine', 'Accept-Encoding': 'gzip' } })
    await send(url)
    for (const sent of names) expect(sent.toSorted()).toEqual([...new Set(sent)].toSorted())
    expect(names.map(sent => sent.filter(name => name === 'user-agent').length)).toEqual([1, 1])
  })

  test('to localhost asks no name server where the loopback is allowed', async () => {
    expect(textOf(await send(`http://localhost:${port}/`))).toBe('hello')
    expect(names.queryCount('localhost')).toBe(0)
  })

  test('ignores the proxies of the environment', async () => {
    const proxied: string[] = []
    const proxy = await receiver(({ url = '' }, response) => {
      proxied.push(url)
      response.end()
    })
    const variables = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY']
    const before = { ...process.env }
    for (const name of variables) process.env[name] = proxy
    process.env.NODE_USE_ENV_PROXY = '1'
    try {
      const fresh = guardedHttp({ allow: ['127.0.0.0/8'], resolver: names.resolver })
      expect(textOf(await send(serverUrl, {}, fresh))).toBe('hello')
    } finally {
      process.env = before
    }
    expect(proxied).toEqual([])
  })

  test.each([
    [{ 'X-A': 'a\r\nX-B: b' }],
    [{ 'X-A': 'a\nb' }],
    [{ 'X-A': 'a\0' }],
    [{ 'X-A': 'a\u0085b' }],
    [{ 'X-A': 'ÿ' }],
    [{ 'X-A\r\nX-B': 'b' }],
    [{ 'X A': 'b' }],
    [{ 'X:': 'b' }],
    [{ '': 'b' }],
    [{ Host: 'internal' }],
    [{ 'Content-Length': '1' }],
    [{ 'transfer-encoding': 'chunked' }],
    [{ Connection: 'upgrade' }],
    [{ 'Proxy-Authorization': 'x' }],
  ])('with the header %j is refused', async headers => {
    requests = []
    expect(await send(serverUrl, { headers })).toMatchObject({ kind: 'refused', rule: 'header' })
    expect(requests).toEqual([])
  })
})

describe('a host name', () => {
  const to = (name: string, path = '/') => `http://${name}:${port}${path}`

  test.each([
    ['receiver.example', 'loopback'],
    ['mixed.example', 'loopback'],
    ['six.example', 'private'],
    ['mapped.example', 'private'],
    ['disguised.example', 'translated'],
    ['metadata.example', 'metadata'],
  ])('that resolves to a forbidden address is refused: %s (%s)', async (name, rule) => {
    expect(strictGuard.judge(to(name))).toBeUndefined()
    expect(await send(to(name), {}, strictGuard)).toMatchObject({ kind: 'refused', rule })
  })

  test('that resolves to an allowed and a forbidden address is refused', async () => {
    expect(await send(to('mixed.example'))).toMatchObject({ kind: 'refused', rule: 'private' })
    expect(await send(to('mixed-six.example'))).toMatchObject({ kind: 'refused', rule: 'loopback' })
  })

  test.each(['localhost', 'a.localhost', 'localhost.localdomain', 'LOCALHOST.'])(
    'of this machine is refused unless its address is allowed: %s',
    name => {
      const ruleWith = (allow: string[]) =>
        guardedHttp({ allow, resolver: names.resolver }).judge(`http://${name}/`)?.rule
      expect(ruleWith([])).toBe('loopback')
      expect(ruleWith(['10.0.0.0/8', '127.0.0.9'])).toBe('loopback')
      expect(ruleWith(['127.0.0.1'])).toBeUndefined()
      expect(ruleWith(['::1/128'])).toBeUndefined()
    },
  )

  test('the metadata service is refused regardless of the allowed blocks', async () => {
    const lax = guardedHttp({ allow: ['0.0.0.0/0', '::/0'], resolver: names.resolver })
    expect(lax.judge('http://10.0.0.1/')).toBeUndefined()
    expect(lax.judge('http://[::1]/')).toBeUndefined()
    expect(lax.judge('http://postgres/')).toBeUndefined()
    for (const url of [
      'http://169.254.169.254/',
      'http://[::ffff:169.254.169.254]/',
      'http://metadata.google.internal./',
    ])
      expect(lax.judge(url)?.rule).toBe('metadata')
    expect(await send(to('metadata.example'), {}, lax)).toMatchObject({ kind: 'refused', rule: 'metadata' })
  })

  test('is resolved once for each connection, and judged by the address connected to', async () => {
    requests = []
    const first = await send(to('rebinding.example', '/close'))
    expect(textOf(first)).toBe('hello')
    expect(names.queryCount('rebinding.example')).toBe(1)
    expect(await send(to('rebinding.example', '/close'))).toMatchObject({ kind: 'refused', rule: 'private' })
    expect(names.queryCount('rebinding.example')).toBe(2)
    expect(requests).toHaveLength(1)
  })

  test('is not resolved again while its connection is open', async () => {
    connections = 0
    const before = names.queryCount('receiver.example')
    for (let request = 0; request < 20; request++)
      expect(textOf(await send(to('receiver.example')))).toBe('hello')
    expect(names.queryCount('receiver.example') - before).toBe(connections)
    expect(connections).toBeLessThan(5)
  })

  test.each(['missing.example', 'empty.example'])('that does not resolve fails: %s', async name => {
    expect(await send(to(name))).toMatchObject({
      kind: 'failed',
      timedOut: false,
      message: 'The host’s name cannot be resolved.',
    })
  })
})

describe('a redirect', () => {
  test.each([301, 302, 303, 307, 308])('with status %i is not followed', async status => {
    requests = []
    const url = await receiver((_, response) => response.writeHead(status, { location: serverUrl }).end())
    expect(await send(url)).toMatchObject({ kind: 'answered', status, headers: { location: serverUrl } })
    expect(requests).toEqual([])
  })
})

test('five hundred concurrent requests are all answered', async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, () => send(serverUrl)))
  expect(answers.filter(answer => textOf(answer) !== 'hello')).toEqual([])
})
