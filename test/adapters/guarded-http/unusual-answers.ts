import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import type { OutboundAnswer } from '../../../src/ports/outbound.ts'

const guard = guardedHttp({ allow: ['127.0.0.1'] })
const open: { close(): unknown }[] = []
afterAll(() => {
  for (const opened of open) opened.close()
})

async function sendTo(respond: (socket: Socket) => void, timeoutMs = 60_000): Promise<OutboundAnswer> {
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    respond(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  open.push(server)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return guard.send({ url, method: 'POST', body: '{}', timeoutMs, maxBytes: 1_000 })
}

const writes = (text: string) => (socket: Socket) => void socket.once('data', () => socket.write(text))

/** Writes the beginning, then more and more until the client disconnects. */
const writesEndlessly = (beginning: string, more: () => string) => (socket: Socket) =>
  void socket.once('data', () => {
    socket.write(beginning)
    const writing = setInterval(() => socket.write(more()), 1)
    socket.on('close', () => clearInterval(writing))
  })

const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n'
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

describe('an unusual but valid HTTP answer', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['as of 1996', socket => void socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nok'))],
    ['before the request is read', socket => void socket.write(OK)],
    ['with something at the end', writes(`${CHUNKED}X-Last: 1\r\n\r\n`)],
    ['after a hint', writes(`HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}`)],
    ['twice', writes(`${OK}HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n`)],
  ])('%s is read', async (_, respond) => {
    const answer = await sendTo(respond)
    expect(answer).toMatchObject({ kind: 'answered', status: 200, cut: false })
    expect(answer.kind === 'answered' && Buffer.from(answer.body).toString()).toBe('ok')
  })
})

describe('an unusable HTTP answer', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['changes the protocol', writes('HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n')],
    ['has two lengths', writes(OK.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\n'))],
    ['has no status', writes('HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n')],
    [
      'never ends what comes last',
      writesEndlessly(CHUNKED, () => `X-${Math.random()}: ${'y'.repeat(1_000)}\r\n`),
    ],
    ['is no HTTP of ours', writes('hello\r\n\r\n')],
  ])('that %s fails at once', async (_, respond) => {
    expect(await sendTo(respond)).toMatchObject({ kind: 'failed', timedOut: false })
  })

  test('that consists of endless hints fails at the time-out', async () => {
    const hinting = writesEndlessly('', () => 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    expect(await sendTo(hinting, 150)).toMatchObject({ kind: 'failed', timedOut: true })
  })
})
