import { createServer } from 'node:http'
import { beforeEach, describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { serviceAddresses } from '../../../src/app/own-addresses.ts'
import type { OutboundAnswer } from '../../../src/ports/outbound.ts'
import { guarded, textOf } from '../../support/http/guarded.ts'
import { nameServer } from '../../support/http/name-server.ts'

const { listen } = await guarded()
const { resolver } = await nameServer({
  'pay.example': ['127.0.0.1'],
  'rebinding.example': times => [times === 1 ? '127.0.0.9' : '127.0.0.1'],
})

let asked: string[] = []
const port = await listen(
  createServer(({ method, url, headers }, response) => {
    asked.push(`${method} ${headers.host}${url}`)
    if (url?.endsWith('redirect')) response.writeHead(302, { location: '/agents' })
    response.end('ours')
  }),
)
const otherPort = await listen(createServer((_, response) => response.end('another')))
beforeEach(() => {
  asked = []
})

const addresses = serviceAddresses({ host: '127.0.0.1', port: 8080 })
const guard = guardedHttp({ resolver, ownListener: addresses.listener })
addresses.listensAt('127.0.0.1', port)
const ours = `http://127.0.0.1:${port}`

const send = (url: string, ownListener = true): Promise<OutboundAnswer> =>
  guard.send({ url, method: 'GET', timeoutMs: 60_000, maxBytes: 100, ownListener })

describe('our own listener', () => {
  test.each([
    '/simulate/mpp/pays',
    '/simulate/mpp/pays?amount=1&b=%2F..%2F',
    '/simulate/mpp/keys/jwks.json',
    '/collect/402/request_01jd8x2m4ye7k9v0c3q5r6t8wz',
  ])('is reached at %s by who may ask for it', async path => {
    expect(guard.judge(ours + path, { ownListener: true })).toBeUndefined()
    expect(textOf(await send(ours + path))).toBe('ours')
    expect(asked).toEqual([`GET 127.0.0.1:${port}${path}`])
  })

  test('of the host localhost is reached at its address, since a lookup of the name is refused', async () => {
    const named = serviceAddresses({ host: 'localhost', port })
    named.listensAt('localhost', port)
    const answer = await guardedHttp({ resolver, ownListener: named.listener }).send({
      url: `${named.publicUrl()}/simulate/mpp/pays`,
      method: 'GET',
      timeoutMs: 60_000,
      maxBytes: 100,
      ownListener: true,
    })
    expect([textOf(answer), asked]).toEqual(['ours', [`GET localhost:${port}/simulate/mpp/pays`]])
  })

  test('the own listener is reached by name without a DNS query', async () => {
    expect(textOf(await send(`http://localhost:${port}/simulate/mpp/pays`))).toBe('ours')
    expect(asked).toEqual([`GET localhost:${port}/simulate/mpp/pays`])
  })

  test.each(['/simulate/mpp/pays', '/collect/402/request_1'])(
    'is shut at %s for everybody else',
    async path => {
      expect(guard.judge(ours + path)?.rule).toBe('loopback')
      expect(guard.judge(ours + path, { ownListener: false })?.rule).toBe('loopback')
      expect(await send(ours + path, false)).toMatchObject({ kind: 'refused', rule: 'loopback' })
      expect(asked).toEqual([])
    },
  )

  test.each([
    '/',
    '/agents',
    '/metrics',
    '/simulate/clock',
    '/simulate/mpp',
    '/simulate/mpp/',
    '/simulate/mpp/../clock',
    '/simulate/mpp/..%2fclock',
    '/simulate/mpp/%2e%2e/clock',
    '/simulate/mpp/.%2e/clock',
    '/simulate/mpp/a/../../clock',
    '/simulate/mpp/a/../b',
    '/simulate/mpp/a%2fb',
    '/simulate/mpp/a//b',
    '/simulate/mpp/a;b',
    '/simulate/mpp/.hidden',
    '/simulate/%6dpp/a',
    '/x/../simulate/mpp/a',
    '//simulate/mpp/a',
    '/v1/simulate/mpp/a',
    '/Simulate/mpp/a',
    '/collect/402',
    '/collect/402/../requests',
    '/collect/402%2Fa',
    '/collect/4022/a',
    '/collect/requests/a',
    '/simulate/mpp/a#b',
  ])('is shut at %s', async path => {
    expect(await send(ours + path)).toMatchObject({ kind: 'refused', rule: 'loopback' })
    expect(asked).toEqual([])
  })

  test.each([
    ['another port of this machine', `http://127.0.0.1:${otherPort}/simulate/mpp/a`, 'loopback'],
    ['another of its addresses', `http://127.0.0.2:${port}/simulate/mpp/a`, 'loopback'],
    ['its address in six', `http://[::1]:${port}/simulate/mpp/a`, 'loopback'],
    ['its address as mapped into six', `http://[::ffff:127.0.0.1]:${port}/simulate/mpp/a`, 'loopback'],
    ['its address as one number', `http://2130706433:${port}/simulate/mpp/a`, 'loopback'],
    ['its address in base 16', `http://0x7f.0.0.1:${port}/simulate/mpp/a`, 'loopback'],
    ['its address in base 8', `http://0177.0.0.1:${port}/simulate/mpp/a`, 'loopback'],
    ['its address cut short', `http://127.1:${port}/simulate/mpp/a`, 'loopback'],
    ['no address', `http://0.0.0.0:${port}/simulate/mpp/a`, 'unspecified'],
    ['its name in capitals', `http://LOCALHOST:${port}/simulate/mpp/a`, 'loopback'],
    ['its name with a dot', `http://localhost.:${port}/simulate/mpp/a`, 'loopback'],
    ['a name below it', `http://a.localhost:${port}/simulate/mpp/a`, 'loopback'],
    ['https', `https://127.0.0.1:${port}/simulate/mpp/a`, 'loopback'],
    ['a user', `http://a@127.0.0.1:${port}/simulate/mpp/a`, 'userinfo'],
    ['a name that leads to it', `http://pay.example:${port}/simulate/mpp/a`, 'loopback'],
  ])('is not reached by %s', async (_, url, rule) => {
    expect(await send(url)).toMatchObject({ kind: 'refused', rule })
    expect(asked).toEqual([])
  })

  test('is not reached by a name that leads there later', async () => {
    // The operator allows this address, at which no server listens.
    const opened = guardedHttp({ resolver, ownListener: addresses.listener, allow: ['127.0.0.9'] })
    const request = { method: 'GET', timeoutMs: 60_000, maxBytes: 100, ownListener: true } as const
    const url = `http://rebinding.example:${port}/simulate/mpp/a`
    expect((await opened.send({ ...request, url })).kind).toBe('failed')
    expect(await opened.send({ ...request, url })).toMatchObject({ kind: 'refused', rule: 'loopback' })
    expect(asked).toEqual([])
  })

  test('leads nowhere by a redirect', async () => {
    const answer = await send(`${ours}/simulate/mpp/redirect`)
    expect(answer).toMatchObject({ kind: 'answered', status: 302 })
    expect(asked).toEqual([`GET 127.0.0.1:${port}/simulate/mpp/redirect`])
  })

  test('is not known before it listens, nor in a process without one', async () => {
    const none = guardedHttp({ ownListener: serviceAddresses({ host: '127.0.0.1', port }).listener })
    expect(none.judge(`${ours}/simulate/mpp/a`, { ownListener: true })?.rule).toBe('loopback')
  })

  test.each([
    ['0.0.0.0', ['http://127.0.0.1:81', 'http://localhost:81']],
    ['::', ['http://[::1]:81', 'http://127.0.0.1:81', 'http://localhost:81']],
    ['::1', ['http://[::1]:81', 'http://localhost:81']],
    ['localhost', ['http://localhost:81', 'http://127.0.0.1:81', 'http://[::1]:81'], 'http://127.0.0.1:81'],
    ['10.1.2.3', ['http://10.1.2.3:81']],
    ['fd00::1', ['http://[fd00::1]:81']],
  ])('on %s is what its socket says', (address, origins, target = origins[0]) => {
    const own = serviceAddresses({ host: 'anything', port: 0 })
    own.listensAt(address, 81)
    expect(own.listener()).toEqual({
      origin: origins[0],
      origins,
      target,
      pass: expect.stringMatching(/^[\da-f-]{36}$/),
    })
  })
})

describe('the public address', () => {
  test.each([
    [{ publicUrl: 'https://pay.example.eu', host: '127.0.0.1', port: 1 }, 'https://pay.example.eu'],
    [{ publicUrl: 'https://example.eu/pay', host: '127.0.0.1', port: 1 }, 'https://example.eu/pay'],
    [{ host: '127.0.0.1', port: 8080 }, 'http://127.0.0.1:8080'],
    [{ host: '0.0.0.0', port: 8080 }, 'http://127.0.0.1:8080'],
  ])('of %j is %s', (settings, url) => expect(serviceAddresses(settings).publicUrl()).toBe(url))

  test('is where the service listens, once it does', () => {
    expect(addresses.publicUrl()).toBe(ours)
    expect(addresses.hosts()).toEqual([`127.0.0.1:${port}`, `127.0.0.1:${port}`, `localhost:${port}`])
  })
})
