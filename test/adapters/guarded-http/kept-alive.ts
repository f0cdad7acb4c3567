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
  readonly received: [connection: number, header: string | undefined][]
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  open.push(server)
  return (server.address() as AddressInfo).port
}

/** Handles the nth request of each connection with this function, counted from 0. */
async function receiver(respond: (socket: Socket, n: number) => void): Promise<Witness> {
  const received: Witness['received'] = []
  let connections = 0
  const server = createServer(socket => {
    const connection = connections++
    let n = 0
    socket.on('error', () => undefined)
    socket.on('data', data => {
      received.push([connection, /x-try: (\w+)/.exec(String(data))?.[1]])
      respond(socket, n++)
    })
  })
  return { url: `http://127.0.0.1:${await listen(server)}`, received }
}

async function send(url: string, request: Partial<OutboundRequest> = {}): Promise<OutboundAnswer> {
  const answer = await guard.send({
    url,
    method: 'POST',
    body: '{}',
    timeoutMs: 60_000,
    maxBytes: 1_000,
    headers: { 'x-try': 'first' },
    retryHeaders: () => ({ 'x-try': 'second' }),
    ...request,
  })
  // The connection is free for the next request only after this turn.
  await setImmediate()
  return answer
}

const answersFirst = (then: (socket: Socket) => void) => (socket: Socket, n: number) =>
  n === 0 ? void socket.write(ANSWER) : then(socket)

const broken = { kind: 'failed', message: 'The connection was closed before the answer was complete.' }

describe('a kept-alive connection', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['ends', socket => void socket.end()],
    ['is destroyed', socket => void socket.destroy()],
    ['is reset', socket => void socket.resetAndDestroy()],
  ])('that %s on the next request makes the request be sent again on a new connection', async (_, break_) => {
    const { url, received } = await receiver(answersFirst(break_))
    expect(await send(url)).toMatchObject({ kind: 'answered' })
    expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 })
    expect(received).toEqual([
      [0, 'first'],
      [0, 'first'],
      [1, 'second'],
    ])
  })

  test('that breaks in the middle of an answer does not repeat the request', async () => {
    const { url, received } = await receiver(
      answersFirst(socket => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf')),
    )
    await send(url)
    expect(await send(url)).toMatchObject(broken)
    expect(received).toHaveLength(2)
  })

  test('that breaks does not repeat a request that allows no second attempt', async () => {
    const { url, received } = await receiver(answersFirst(socket => void socket.destroy()))
    const noSecondAttempt = { retryHeaders: undefined } as unknown as Partial<OutboundRequest>
    await send(url, noSecondAttempt)
    expect(await send(url, noSecondAttempt)).toMatchObject(broken)
    expect(received).toHaveLength(2)
  })

  test('over TLS that breaks makes the request be sent again, too', async () => {
    const usedSockets = new WeakSet<object>()
    const server = createSecureServer(certificate, ({ socket }, response) => {
      if (usedSockets.has(socket)) socket.destroy()
      else response.end('sealed')
      usedSockets.add(socket)
    })
    const url = `https://receiver.example:${await listen(server)}/`
    for (let request = 0; request < 3; request++)
      expect(await send(url)).toMatchObject({ kind: 'answered', status: 200 })
    server.closeAllConnections()
  })
})

test('a new connection that breaks at once fails the request without a further attempt', async () => {
  const never = await receiver(socket => void socket.destroy())
  expect(await send(never.url)).toMatchObject(broken)
  expect(never.received).toHaveLength(1)
  let requests = 0
  const receiverThatBreaks = await receiver(socket => {
    requests++
    if (requests === 1) socket.write(ANSWER)
    else socket.destroy()
  })
  await send(receiverThatBreaks.url)
  expect(await send(receiverThatBreaks.url)).toMatchObject(broken)
  expect(receiverThatBreaks.received.map(([connection]) => connection)).toEqual([0, 0, 1])
})
