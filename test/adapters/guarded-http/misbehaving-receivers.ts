import type { RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { createServer as createPlainServer } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { guardedHttp } from '../../../src/adapters/guarded-http/guarded-http.ts'
import { certificate } from '../../support/http/certificate.ts'
import { guarded, textOf } from '../../support/http/guarded.ts'
import { lastingPort } from '../../support/processes/lasting-port.ts'

const { listen, names, send, receiver } = await guarded()

const secure = await listen(createSecureServer(certificate, (_, response) => response.end('sealed')))
const plain = await listen(createPlainServer(socket => socket.end('plain')))
const trusting = guardedHttp({ allow: ['127.0.0.0/8'], resolver: names.resolver, ca: certificate.cert })

describe('a misbehaving receiver', () => {
  function drip(response: Parameters<RequestListener>[1]): void {
    response.writeHead(200)
    const dripping = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(dripping))
  }

  test.each<[string, RequestListener]>([
    ['never answers', () => undefined],
    ['answers one byte after the other', (_, response) => drip(response)],
  ])('that %s fails at the time-out', async (_, listener) => {
    const answer = await send(await receiver(listener), { timeoutMs: 150 })
    expect(answer).toMatchObject({
      kind: 'failed',
      timedOut: true,
      message: 'There was no complete answer within 0.15 s.',
    })
  })

  test('that sends without end has its answer cut at the limit', async () => {
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

  test('that sends up to the limit and does not end is not waited for', async () => {
    const answer = await send(await receiver((_, response) => void response.write('x'.repeat(1_000))))
    expect(answer).toMatchObject({ kind: 'answered', cut: true })
  })

  test('that sends exactly as much as the limit has its whole answer read', async () => {
    const answer = await send(await receiver((_, response) => response.end('x'.repeat(1_000))))
    expect(answer).toMatchObject({ kind: 'answered', cut: false })
  })

  test('that compresses has its bytes returned as they are, not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(10_000_000))
    const url = await receiver((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    const answer = await send(url, { maxBytes: 100_000 })
    expect(answer.kind === 'answered' && Buffer.compare(Buffer.from(answer.body), bomb)).toBe(0)
  })

  test('that answers 204 has an empty body', async () => {
    const answer = await send(await receiver((_, response) => response.writeHead(204).end()))
    expect(answer).toMatchObject({ kind: 'answered', status: 204, cut: false })
    expect(textOf(answer)).toBe('')
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
      'The host’s answer is not HTTP',
    ],
    [
      'has headers without end',
      (_, response) => void response.writeHead(200, { 'x-long': 'x'.repeat(20_000) }).end(),
      'The answer’s headers are too large.',
    ],
  ])('that %s fails with a message that says how', async (_, listener, message) => {
    const answer = await send(await receiver(listener))
    expect(answer).toMatchObject({
      kind: 'failed',
      timedOut: false,
      message: expect.stringContaining(message),
    })
  })

  test('that refuses connections fails with a message that says so', async () => {
    expect(await send(`http://127.0.0.1:${await lastingPort()}`)).toMatchObject({
      kind: 'failed',
      message: 'The host refuses connections on this port.',
    })
  })
})

describe('a TLS certificate', () => {
  test('of a trusted authority is accepted', async () => {
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
    ['that there is not', () => send(`https://receiver.example:${plain}/`), 'The TLS handshake failed'],
  ])('%s is rejected, whatever the environment says', async (_, sending, message) => {
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
