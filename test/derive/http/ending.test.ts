import { once } from 'node:events'
import { createServer, get, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { goneSignal } from '../../../src/derive/http/ending.ts'
import { until } from '../../support/until.ts'

const responses: ServerResponse[] = []
const server = createServer((_, response) => void responses.push(response)).listen(0, '127.0.0.1')
await once(server, 'listening')
afterAll(() => void server.close())

/** A request that waits for its answer. */
async function asked() {
  const { port } = server.address() as AddressInfo
  const before = responses.length
  const request = get({ port, host: '127.0.0.1', agent: false }).on('error', () => undefined)
  const response = await until('it has arrived', () => responses[before])
  return { request, response, signal: goneSignal(response) }
}

describe('the signal that a client has left', () => {
  test('is given when its connection closes before the end of the answer', async () => {
    const { request, response, signal } = await asked()
    response.write('a piece')
    request.destroy()
    await until('it is told', () => signal.aborted)
    expect(goneSignal(response).aborted).toBe(true)
  })

  test('is not given to what has been answered: to abort costs a quick request a fifth', async () => {
    const { request, response, signal } = await asked()
    const isRead = new Promise(resolve => request.once('response', resolve))
    response.end('all')
    await isRead
    await until('it has closed', () => response.closed)
    await pause(1)
    expect(signal.aborted).toBe(false)
  })
})
