import { connect, type Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../../support/harness.ts'
import { exchange, request } from '../../../support/http/raw.ts'
import { until } from '../../../support/until.ts'

const service = await startTestService({ env: { CONNECTIONS_PER_ADDRESS: '3' } })
const behindProxy = await startTestService({
  env: { CONNECTIONS_PER_ADDRESS: '3', TRUST_PROXY: '127.0.0.1' },
})

const healthRequest = request('GET', '/health')

/** Opens connections, each of which was answered once and is kept alive. */
async function openConnections(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname))
  const answers = sockets.map(socket => new Promise(resolve => socket.once('data', resolve)))
  for (const socket of sockets) socket.write(healthRequest)
  await Promise.all(answers)
  return sockets
}

describe('a client address', () => {
  test('at its maximum of connections gets 503 for a further one, until one is closed', async () => {
    const sockets = await openConnections(service.url, 3)
    const [refused] = await exchange(service.url, healthRequest)
    expect([refused?.status, refused?.headers.get('x-error-code')]).toEqual([503, 'too_many_connections'])
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(JSON.parse(refused?.text ?? '')).toEqual({ error: expect.stringContaining('connections') })
    sockets[0]?.destroy()
    await until('there is room', async () => (await exchange(service.url, healthRequest))[0]?.status === 200)
    for (const socket of sockets) socket.destroy()
  })

  test('of a trusted proxy has no maximum', async () => {
    const sockets = await openConnections(behindProxy.url, 12)
    expect((await exchange(behindProxy.url, healthRequest))[0]?.status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })
})
