import { once } from 'node:events'
import { request } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { openStream } from '../../support/delivery/event-stream.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

/** Large events: some hundreds exceed the buffers of a connection. */
const MANY = `
insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
select first_id_at('event', clock_timestamp()) || lpad($2 || n, 16, '0'), $1, 'test', 'agent.frozen',
  jsonb_build_object('agentId', 'agent_1', 'reason', repeat('x', 8000)), 'r', now(), 'key', 'agents.freeze', 'done', 'agent_1'
from generate_series(1, 500) n`

const service = await startTestService({ patience: { answerMs: 1_500, checkEveryMs: 50 } })

describe('a reader of a stream that reads nothing', () => {
  test('is cut, while others get everything, and resumes where it was', async () => {
    const { ownerId, key } = await service.owner()
    const stuck = request(`${service.url}/events/stream`, {
      agent: false,
      headers: { authorization: `Bearer ${key}` },
    }).end()
    const [answer] = await once(stuck, 'response')
    answer.pause()
    const closed = once(stuck, 'close')
    const reader = await openStream(service.url, { token: key })
    const before = process.memoryUsage().rss
    for (let n = 0; n < 8; n++) await service.sql(MANY, [ownerId, n])
    await until('the others have everything', () => reader.ids.length === 4_000)
    expect(new Set(reader.ids).size).toBe(4_000)
    await until('the service has cut it', async () => {
      const rows = await service.sql('select from event_streams where owner_id = $1', [ownerId])
      return rows.length === 1
    })
    // 32 MB were waiting for it: it got what the buffers hold. The test itself keeps what its reader has
    // read.
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000)
    answer.resume()
    answer.on('error', () => undefined)
    await closed
    const resumed = await openStream(service.url, { token: key, lastEventId: String(reader.ids[9]) })
    await until('it has the rest', () => resumed.ids.length === 3_990)
    expect(resumed.ids).toEqual(reader.ids.slice(10))
    for (const stream of [reader, resumed]) stream.close()
  })
})
