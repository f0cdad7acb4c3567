import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../../src/areas.ts'
import { area } from '../../../src/kernel/contract/area.ts'
import { fileSchema } from '../../../src/kernel/contract/file.ts'
import { bindHandlers, get } from '../../../src/kernel/contract/operation.ts'
import { pageQuerySchema } from '../../../src/kernel/contract/page.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

/** Lists whose handlers wait until the test lets them go on, and a file that never ends. */
const work = { running: 0, most: 0, pieces: 0, closed: 0, go: Promise.withResolvers<void>() }

const slowArea = area(
  'Slow',
  'Lists that take long.',
  bindHandlers(
    {
      list: get('/slow', {
        summary: 'List',
        callers: ['key'],
        query: pageQuerySchema({}),
        returns: [200, z.object({ done: z.boolean() })],
      }),
      file: get('/slow/file', {
        summary: 'Download',
        callers: ['key'],
        returns: [200, fileSchema('text/csv')],
      }),
    },
    {
      async list() {
        work.running++
        work.most = Math.max(work.most, work.running)
        await work.go.promise
        work.running--
        return { done: true }
      },
      file: () => ({ type: 'text/csv', content: endless() }),
    },
  ),
)

async function* endless() {
  try {
    for (;;) {
      work.pieces++
      yield 'x'.repeat(65_536)
    }
  } finally {
    work.closed++
  }
}

const service = await startTestService({ areas: { ...areas, slow: slowArea } })

describe('an owner’s long lists', () => {
  test('run one at a time, and those of another owner beside them', async () => {
    const [one, other] = [await service.owner(), await service.owner()]
    const ask = (token: string, limit: number) => service.http('GET', `/slow?limit=${limit}`, { token })
    const long = Array.from({ length: 10 }, () => ask(one.key, 100))
    await until('the first one runs', () => work.running === 1)
    const others = [ask(other.key, 100), ask(one.key, 20)]
    await until('the other owner’s and the short one run, too', () => work.running === 3)
    work.go.resolve()
    const answers = await Promise.all([...long, ...others])
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect(work.most).toBe(3)
  })

  test('are no failure where the client leaves before its turn', async () => {
    const { key: token } = await service.owner()
    work.go = Promise.withResolvers()
    const first = service.http('GET', '/slow?limit=100', { token })
    await until('the first one runs', () => work.running === 1)
    const before = await countedRequests()
    const left = request(`${service.url}/slow?limit=100`, { headers: { authorization: `Bearer ${token}` } })
    left.on('error', () => undefined).end()
    await until('the second one has arrived', async () => (await countedRequests()) > before)
    left.destroy()
    const isOver = async () => (await statusesOf('slow.list')).size > 1
    await until('it is over', isOver).finally(() => work.go.resolve())
    expect([...(await statusesOf('slow.list'))].sort()).toEqual(['200', '499'])
    expect((await first).status).toBe(200)
  })

  test('need no turn for a download whose client has left', async () => {
    const { key: token } = await service.owner()
    const leave = await startDownload(token)
    await until('the download waits for its reader', () => work.pieces > 2)
    leave()
    await until('it has ended', () => work.closed === 1)
    expect((await service.http('GET', '/slow?limit=100', { token })).status).toBe(200)
  })
})

/** What the rate limit has counted for keys. */
async function countedRequests(): Promise<number> {
  const sum = `select coalesce(sum(used), 0)::int as used from rate_limits where client like 'key %'`
  return (await service.sql<{ used: number }>(sum))[0]?.used ?? 0
}

/** The statuses of the operation's requests, as the metrics have them. */
async function statusesOf(operation: string): Promise<ReadonlySet<string>> {
  const headers = { 'x-dashboard-secret': DASHBOARD_SECRET }
  const { text } = await service.http('GET', '/metrics', { headers })
  const found = text.matchAll(
    new RegExp(`http_requests_total\\{operation="${operation}",status="(\\d+)"`, 'g'),
  )
  return new Set([...found].map(([, status = '']) => status))
}

/** A client that reads the beginning only. Returns how it hangs up. */
function startDownload(token: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const asked = request(`${service.url}/slow/file`, { headers: { authorization: `Bearer ${token}` } })
    asked.once('response', response => {
      response.on('error', () => undefined)
      response.once('data', () => {
        response.pause()
        resolve(() => asked.destroy())
      })
    })
    asked.once('error', reject).end()
  })
}
