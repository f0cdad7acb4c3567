import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer as createPlainServer, type Server } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundAnswer, OutboundRequest } from '../../src/kernel/outbound.ts'
import { certificate } from '../support/certificate.ts'
import { nameServer } from '../support/name-server.ts'

const names = await nameServer({
  'receiver.example': ['127.0.0.1'],
  'other.example': ['127.0.0.1'],
  'mixed.example': ['127.0.0.1', '10.0.0.1'],
  'mixed-six.example': ['127.0.0.1', '::1'],
  'six.example': ['fd00::1'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'disguised.example': ['64:ff9b::7f00:1'],
  'metadata.example': ['169.254.169.254'],
  'rebinding.example': times => [times === 1 ? '127.0.0.1' : '10.0.0.1'],
  'empty.example': [],
})
const guard = guardedHttp({ allow: ['127.0.0.0/8'], resolver: names.resolver })
const nobody = guardedHttp({ resolver: names.resolver })

const open: { close(): unknown; closeAllConnections?(): void }[] = []
afterAll(() => {
  for (const one of open) {
    one.closeAllConnections?.()
    one.close()
  }
})

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  open.push(server)
  return (server.address() as AddressInfo).port
}

const receiver = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listen(createServer(listener))}`

const send = (url: string, request: Partial<OutboundRequest> = {}, by = guard): Promise<OutboundAnswer> =>
  by.send({ url, method: 'POST', body: '{}', timeoutMs: 5_000, maxBytes: 1_000, ...request })

const textOf = (answer: OutboundAnswer): string =>
  answer.kind === 'answered' ? Buffer.from(answer.body).toString() : JSON.stringify(answer)

let seen: {
  readonly path: string
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: string
}[] = []
let connections = 0
const server = createServer(async (request, response) => {
  const { url: path = '', headers } = request
  const body = (await request.toArray()).join('')
  seen.push({ path, headers, body })
  response.setHeader('X-Twice', ['a', 'b'])
  if (path === '/close') response.setHeader('connection', 'close')
  response.end('hello')
}).on('connection', () => connections++)
const port = await listen(server)
const own = `http://127.0.0.1:${port}`

describe('a request', () => {
  test('arrives as it was given, and its answer comes back', async () => {
    seen = []
    const answer = await send(`${own}/a?b=c#d`, {
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
    expect(seen).toMatchObject([{ path: '/a?b=c', body: 'é' }])
    expect(seen[0]?.headers).toMatchObject({
      host: `127.0.0.1:${port}`,
      'x-own': 'mine',
      'accept-encoding': 'identity',
    })
  })

  test('says nothing twice, however its headers are spelled', async () => {
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

  test('to localhost needs no name server, where the loopback is allowed', async () => {
    expect(textOf(await send(`http://localhost:${port}/`))).toBe('hello')
    expect(names.asked('localhost')).toBe(0)
  })

  test('goes past the proxies of the environment', async () => {
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
      expect(textOf(await send(own, {}, fresh))).toBe('hello')
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
    seen = []
    expect(await send(own, { headers })).toMatchObject({ kind: 'refused', rule: 'header' })
    expect(seen).toEqual([])
  })
})

describe('a name', () => {
  const to = (name: string, path = '/') => `http://${name}:${port}${path}`

  test.each([
    ['receiver.example', 'loopback'],
    ['mixed.example', 'loopback'],
    ['six.example', 'private'],
    ['mapped.example', 'private'],
    ['disguised.example', 'translated'],
    ['metadata.example', 'metadata'],
  ])('that leads to a forbidden address is refused: %s (%s)', async (name, rule) => {
    expect(nobody.judge(to(name))).toBeUndefined()
    expect(await send(to(name), {}, nobody)).toMatchObject({ kind: 'refused', rule })
  })

  test('of which one address is allowed and another one is not is refused', async () => {
    expect(await send(to('mixed.example'))).toMatchObject({ kind: 'refused', rule: 'private' })
    expect(await send(to('mixed-six.example'))).toMatchObject({ kind: 'refused', rule: 'loopback' })
  })

  test('of the metadata service is refused whatever is allowed', async () => {
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

  test('is asked about once for each connection, and what it says then counts', async () => {
    seen = []
    const first = await send(to('rebinding.example', '/close'))
    expect(textOf(first)).toBe('hello')
    expect(names.asked('rebinding.example')).toBe(1)
    expect(await send(to('rebinding.example', '/close'))).toMatchObject({ kind: 'refused', rule: 'private' })
    expect(names.asked('rebinding.example')).toBe(2)
    expect(seen).toHaveLength(1)
  })

  test('is not asked about while its connection is open, which leads where it was judged', async () => {
    connections = 0
    const before = names.asked('receiver.example')
    for (let request = 0; request < 20; request++)
      expect(textOf(await send(to('receiver.example')))).toBe('hello')
    expect(names.asked('receiver.example') - before).toBe(connections)
    expect(connections).toBeLessThan(5)
  })

  test.each(['missing.example', 'empty.example'])('that leads nowhere fails: %s', async name => {
    expect(await send(to(name))).toMatchObject({
      kind: 'failed',
      timedOut: false,
      message: 'The host’s name cannot be resolved.',
    })
  })
})

describe('an ugly receiver', () => {
  test.each<[string, RequestListener]>([
    ['never answers', () => undefined],
    ['answers one byte after the other', (_, response) => drip(response)],
  ])('that %s is waited for as long as is said', async (_, listener) => {
    const answer = await send(await receiver(listener), { timeoutMs: 150 })
    expect(answer).toMatchObject({
      kind: 'failed',
      timedOut: true,
      message: 'There was no whole answer within 0.15 s.',
    })
  })

  function drip(response: Parameters<RequestListener>[1]): void {
    response.writeHead(200)
    const dripping = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(dripping))
  }

  test('that sends without end is cut short', async () => {
    let sent = 0
    const piece = Buffer.alloc(65_536)
    const url = await receiver((_, response) => {
      const more = () => {
        for (let room = true; room && !response.destroyed; sent += piece.length) room = response.write(piece)
      }
      response.on('drain', more)
      more()
    })
    const answer = await send(url)
    expect(answer).toMatchObject({ kind: 'answered', status: 200, cut: true })
    expect(textOf(answer)).toHaveLength(1_000)
    expect(sent).toBeLessThan(50_000_000)
  })

  test('that stops at the limit without an end is not waited for', async () => {
    const answer = await send(await receiver((_, response) => void response.write('x'.repeat(1_000))))
    expect(answer).toMatchObject({ kind: 'answered', cut: true })
  })

  test('whose answer is as long as the limit is heard to the end', async () => {
    const answer = await send(await receiver((_, response) => response.end('x'.repeat(1_000))))
    expect(answer).toMatchObject({ kind: 'answered', cut: false })
  })

  test('that compresses gets its own bytes back, however much they would become', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const answer = await send(url, { maxBytes: 100_000 })
    expect(answer.kind === 'answered' && Buffer.compare(Buffer.from(answer.body), bomb)).toBe(0)
  })

  test('that says nothing says it with 204', async () => {
    const answer = await send(await receiver((_, response) => response.writeHead(204).end()))
    expect(answer).toMatchObject({ kind: 'answered', status: 204, cut: false })
    expect(textOf(answer)).toBe('')
  })

  test.each([301, 302, 303, 307, 308])('that answers %i sends nobody anywhere', async status => {
    seen = []
    const url = await receiver((_, response) => response.writeHead(status, { location: own }).end())
    expect(await send(url)).toMatchObject({ kind: 'answered', status, headers: { location: own } })
    expect(seen).toEqual([])
  })

  test.each<[string, RequestListener, string]>([
    [
      'closes in the middle',
      (_, response) =>
        response.writeHead(200, { 'content-length': '9' }).write('half', () => response.destroy()),
      'The connection was closed before the answer was complete.',
    ],
    [
      'closes at once',
      ({ socket }) => void socket.destroy(),
      'The connection was closed before the answer was complete.',
    ],
    [
      'does not speak HTTP',
      ({ socket }) => void socket.end('220 mail.example ESMTP\r\n'),
      'What the host answers is not HTTP',
    ],
    [
      'has headers without end',
      (_, response) => void response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
      'The answer’s headers are too large.',
    ],
  ])('that %s has failed, and in which way', async (_, listener, message) => {
    const answer = await send(await receiver(listener))
    expect(answer).toMatchObject({
      kind: 'failed',
      timedOut: false,
      message: expect.stringContaining(message),
    })
  })

  test('that is not there has failed', async () => {
    const closing = createServer()
    const gone = await listen(closing)
    await new Promise(resolve => closing.close(resolve))
    expect(await send(`http://127.0.0.1:${gone}`)).toMatchObject({
      kind: 'failed',
      message: 'The host refuses connections on this port.',
    })
  })
})

const secure = await listen(createSecureServer(certificate, (_, response) => response.end('sealed')))
const plain = await listen(createPlainServer(socket => socket.end('plain')))
const trusting = guardedHttp({ allow: ['127.0.0.0/8'], resolver: names.resolver, ca: certificate.cert })

describe('a certificate', () => {
  test('that somebody vouches for is believed', async () => {
    expect(textOf(await send(`https://receiver.example:${secure}/`, {}, trusting))).toBe('sealed')
  })

  test.each([
    ['of nobody’s', () => send(`https://receiver.example:${secure}/`), 'certificate is not valid'],
    [
      'of another host',
      () => send(`https://other.example:${secure}/`, {}, trusting),
      'certificate is not valid',
    ],
    ['for an address', () => send(`https://127.0.0.1:${secure}/`, {}, trusting), 'certificate is not valid'],
    ['that there is not', () => send(`https://receiver.example:${plain}/`), 'No encrypted connection'],
  ])('%s is not, whatever the environment says', async (_, sending, message) => {
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    try {
      expect(await sending()).toMatchObject({ kind: 'failed', message: expect.stringContaining(message) })
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
    }
  })
})

test('five hundred at once are all answered', async () => {
  const answers = await Promise.all(Array.from({ length: 500 }, () => send(own)))
  expect(answers.filter(answer => textOf(answer) !== 'hello')).toEqual([])
})
