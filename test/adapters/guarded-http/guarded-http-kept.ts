import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundAnswer, OutboundRequest } from '../../../src/ports/outbound.ts'
import { certificate } from '../../support/http/certificate.ts'
import { nameServer } from '../../support/http/name-server.ts'

const { resolver } = await nameServer({ 'receiver.example': ['127.0.0.1'] })
const guard = guardedHttp({ allow: ['127.0.0.0/8'], resolver, ca: certificate.cert })
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

const open: Server[] = []
afterAll(() => void open.map(server => server.close()))

interface Witness {
  readonly url: string
  /** The number of each connection and what came over it. */
  readonly heard: [connection: number, header: string | undefined][]
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  open.push(server)
  return (server.address() as AddressInfo).port
}

/** A receiver that treats the nth request of each connection as it likes, the first being 0. */
async function receiver(manner: (socket: Socket, n: number) => void): Promise<Witness> {
  const heard: Witness['heard'] = []
  let connections = 0
  const server = createServer(socket => {
    const connection = connections++
    let n = 0
    socket.on('error', () => undefined)
    socket.on('data', data => {
      heard.push([connection, /x-try: (\w+)/.exec(String(data))?.[1]])
      manner(socket, n++)
    })
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, heard }
}

async function send(url: string, request: Partial<OutboundRequest> = {}): Promise<OutboundAnswer> {
  const answer = await guard.send({
    ...{ url, method: 'POST', body: '{}', timeoutMs: 5_000, maxBytes: 1_000 },
    ...{ headers: { 'x-try': 'first' }, again: () => ({ 'x-try': 'second' }), ...request },
  })
  // Only then the connection is free for the next one.
  await setImmediate()
  return answer
}

const answersFirst = (then: (socket: Socket) => void) => (socket: Socket, n: number) =>
  n === 0 ? void socket.write(ANSWER) : then(socket)

const broken = { kind: 'failed', message: 'The connection was closed before the answer was complete.' }

describe('a connection that was kept open', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['ends', socket => void socket.end()],
    ['is destroyed', socket => void socket.destroy()],
    ['is reset', socket => void socket.resetAndDestroy()],
  ])('and %s when the next request comes: that goes out anew, on a new one', async (_, break_) => {
    const { url, heard } = await receiver(answersFirst(break_))
    expect(await send(url)).toMatchObject({ kind: 'answered' })
    expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 })
    expect(heard).toEqual([
      [0, 'first'],
      [0, 'first'],
      [1, 'second'],
    ])
  })

  test('and breaks within an answer: the receiver has heard it', async () => {
    const { url, heard } = await receiver(
      answersFirst(socket => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')),
    )
    await send(url)
    expect(await send(url)).toMatchObject(broken)
    expect(heard).toHaveLength(2)
  })

  test('is left to break where nobody allows a second try', async () => {
    const { url, heard } = await receiver(answersFirst(socket => void socket.destroy()))
    const once = { again: undefined } as unknown as Partial<OutboundRequest>
    await send(url, once)
    expect(await send(url, once)).toMatchObject(broken)
    expect(heard).toHaveLength(2)
  })

  test('of TLS is treated so, too', async () => {
    const seen = new WeakSet<object>()
    const server = createSecureServer(certificate, ({ socket }, response) => {
      if (seen.has(socket)) socket.destroy()
      else response.end('sealed')
      seen.add(socket)
    })
    const url = `https://receiver.example:${await listen(server)}/`
    for (let request = 0; request < 3; request++)
      expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 })
    server.closeAllConnections()
  })
})

test('a new connection that breaks at once is a failure: there is one try, or two where the first went unheard', async () => {
  const never = await receiver(socket => void socket.destroy())
  expect(await send(never.url)).toMatchObject(broken)
  expect(never.heard).toHaveLength(1)
  let requests = 0
  const once = await receiver(socket => {
    requests++
    if (requests === 1) socket.write(ANSWER)
    else socket.destroy()
  })
  await send(once.url)
  expect(await send(once.url)).toMatchObject(broken)
  expect(once.heard.map(([connection]) => connection)).toEqual([0, 0, 1])
})
