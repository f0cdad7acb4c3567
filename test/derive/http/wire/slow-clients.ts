import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../../support/harness.ts'
import { type RawClient, rawClient, request } from '../../../support/http/raw.ts'
import { until } from '../../../support/until.ts'

/** More than a busy machine takes for the ordinary requests of these tests. */
const LIMIT_MS = 1_000

const service = await startTestService({
  patience: {
    headersMs: LIMIT_MS,
    bodyMs: LIMIT_MS,
    answerMs: LIMIT_MS,
    idleMs: 2 * LIMIT_MS,
    checkEveryMs: 20,
  },
})
const owner = await service.owner()
const auth = { Authorization: `Bearer ${owner.key}`, 'Content-Type': 'application/json' }

/** Sends a byte at intervals until the connection is closed. */
async function trickle({ socket }: RawClient, byte: string): Promise<void> {
  while (socket.writable) {
    socket.write(byte)
    await sleep(LIMIT_MS / 10)
  }
}

const head = (length: number, path = '/policies'): string =>
  request('POST', path, { ...auth, 'Content-Length': String(length) })

describe('a client that is too slow', () => {
  test('in sending its headers gets 408, however often it sends a byte', async () => {
    const slow = rawClient(service.url)
    slow.socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ')
    await Promise.all([trickle(slow, 'x'), slow.closed])
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 /)
  })

  test('in sending its body gets 408, however often it sends a byte, and nothing is created', async () => {
    const slow = rawClient(service.url)
    slow.socket.write(head(50_000))
    await Promise.all([trickle(slow, ' '), slow.closed])
    expect(slow.received()).toMatch(/^HTTP\/1\.1 408 .*Connection: close.*X-Error-Code: body_too_slow/is)
    expect((await owner.client.policies.list()).body.data).toEqual([])
  })

  test('in sending a body that is not read is disconnected', async () => {
    const slow = rawClient(service.url)
    slow.socket.write(request('POST', '/policies', { 'Content-Length': '50000' }))
    await Promise.all([trickle(slow, ' '), slow.closed])
    expect(slow.received()).toMatch(/^HTTP\/1\.1 401 /)
  })

  test('in sending its next request is disconnected, or gets 408 if it has begun one', async () => {
    const [idle, slow] = [rawClient(service.url), rawClient(service.url)]
    for (const client of [idle, slow]) {
      client.socket.write(request('GET', '/health'))
      await until('an answer', () => client.received().includes('Keep-Alive: timeout='))
    }
    await Promise.all([idle.closed, trickle(slow, 'G'), slow.closed])
    expect(idle.received().match(/HTTP\/1\.1/g)).toHaveLength(1)
    expect(slow.received()).toMatch(/HTTP\/1\.1 408 |HTTP\/1\.1 400 /)
  })

  test('in sending anything at all is disconnected', async () => {
    const silent = rawClient(service.url)
    await silent.closed
    expect(silent.received()).toBe('')
  })

  test('in reading its answers is disconnected', async () => {
    const notReading = rawClient(service.url)
    notReading.socket.pause()
    // More bytes than the socket buffers hold.
    for (let n = 0; n < 40; n++) notReading.socket.write(request('GET', '/openapi.json'))
    await Promise.all([trickle(notReading, '\r\n'), notReading.closed])
    expect(notReading.received()).toBe('')
  })
})
