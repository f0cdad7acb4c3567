import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../../support/harness.ts'
import { type RawClient, rawClient, request } from '../../../support/http/raw.ts'
import { until } from '../../../support/until.ts'

const SHORT = 200

const service = await startTestService({
  patience: { headersMs: SHORT, bodyMs: SHORT, answerMs: SHORT, idleMs: 2 * SHORT, checkEveryMs: 20 },
})
const owner = await service.owner()
const auth = { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' }

/** Sends a byte every now and then until the connection is closed. */
async function trickle({ socket }: RawClient, byte: string): Promise<void> {
  while (socket.writable) {
    socket.write(byte)
    await sleep(SHORT / 10)
  }
}

const head = (length: number, path = '/policies'): string =>
  request('POST', path, { ...auth, 'Content-Length': String(length) })

describe('a client that takes too long', () => {
  test('over its headers is told so, however often it sends a byte', async () => {
    const slow = rawClient(service.url)
    slow.socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    await Promise.all([trickle(slow, 'x'), slow.closed])
    expect(slow.heard()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('over its body is told so, however often it sends a byte, and nothing is done', async () => {
    const slow = rawClient(service.url)
    slow.socket.write(head(50_000))
    await Promise.all([trickle(slow, ' '), slow.closed])
    expect(slow.heard()).toMatch(/^HTTP\/1\.1 408 .*Connection: close.*X-Error-Code: body_too_slow/is)
    expect((await owner.client.policies.list()).body.data).toEqual([])
  })

  test('over a body that nobody wants is cut off', async () => {
    const slow = rawClient(service.url)
    slow.socket.write(request('POST', '/policies', { 'Content-Length': '50000' }))
    await Promise.all([trickle(slow, ' '), slow.closed])
    expect(slow.heard()).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('over its next request is cut off, or told so where it has begun one', async () => {
    const [idle, slow] = [rawClient(service.url), rawClient(service.url)]
    for (const one of [idle, slow]) {
      one.socket.write(request('GET', '/health'))
      await until('an answer', () => one.heard().includes('Keep-Alive: timeout='))
    }
    await Promise.all([idle.closed, trickle(slow, 'G'), slow.closed])
    expect(idle.heard().match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(slow.heard()).toMatch(/HTTP\/1\.1 408 |HTTP\/1\.1 400 /)
  })

  test('over nothing at all is cut off', async () => {
    const silent = rawClient(service.url)
    await silent.closed
    expect(silent.heard()).toBe('')
  })

  test('to take its answers is cut off', async () => {
    const deaf = rawClient(service.url)
    deaf.socket.pause()
    // More than the system keeps for a connection.
    for (let n = 0; n < 40; n++) deaf.socket.write(request('GET', '/openapi.json'))
    await Promise.all([trickle(deaf, '\r\n'), deaf.closed])
    expect(deaf.heard()).toBe('')
  })
})
