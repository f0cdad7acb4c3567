import { connect, type Socket } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { startTestService } from '../../../support/harness.ts'
import { converse, request } from '../../../support/http/raw.ts'
import { until } from '../../../support/until.ts'

const service = await startTestService({ env: { CONNECTIONS_PER_ADDRESS: '3' } })
const behindProxy = await startTestService({
  env: { CONNECTIONS_PER_ADDRESS: '3', TRUST_PROXY: '127.0.0.1' },
})

const asked = request('GET', '/health')

/** So many connections, each of which has been answered once and is kept. */
async function kept(url: string, count: number): Promise<Socket[]> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: count }, () => connect(Number(port), hostname))
  const answers = sockets.map(socket => new Promise(resolve => socket.once('data', resolve)))
  for (const socket of sockets) socket.write(asked)
  await Promise.all(answers)
  return sockets
}

describe('an address', () => {
  test('has so many connections; one more is told so, until there is room again', async () => {
    const sockets = await kept(service.url, 3)
    const [refused] = await converse(service.url, asked)
    expect([refused?.status, refused?.headers.get('x-error-code')]).toEqual([503, 'too_many_connections'])
    expect(refused?.headers.get('retry-after')).toBe('1')
    expect(JSON.parse(refused?.text ?? '')).toEqual({ error: expect.stringContaining('connections') })
    sockets[0]?.destroy()
    await until('there is room', async () => (await converse(service.url, asked))[0]?.status === 200)
    for (const socket of sockets) socket.destroy()
  })

  test('of a proxy of ours has as many as it likes', async () => {
    const sockets = await kept(behindProxy.url, 12)
    expect((await converse(behindProxy.url, asked))[0]?.status).toBe(200)
    for (const socket of sockets) socket.destroy()
  })
})
