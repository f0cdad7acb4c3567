import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { eventStreams } from '../../../src/delivery/events/index.ts'
import { MAX_EVENT_WAITS } from '../../../src/kernel/contract/follow.ts'
import { ProcessLeases } from '../../../src/kernel/database/process-lease.ts'
import { openListener } from '../../../src/platform/listener.ts'
import { newId } from '../../../src/values/ids.ts'
import { cloneDatabase } from '../../support/database.ts'

const databaseUrl = await cloneDatabase()
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
const listener = openListener(databaseUrl)
const ending = new AbortController()
const streams = eventStreams({
  database: { pool },
  listen: (channel, onNotice) => listener.on(channel, onNotice),
  leases: new ProcessLeases({ pool }),
  times: { pollMs: 10, betweenMs: 3_600_000 },
  onEvents: () => undefined,
  onFailure: () => undefined,
})

afterAll(async () => {
  ending.abort()
  await Promise.all([streams.stop(), listener.stop()])
  await pool.end()
})

const tenant = { ownerId: 'customer_1', mode: 'test' } as const

const waitUntil = ({ signal }: AbortController) =>
  streams.wait({
    tenant,
    from: undefined,
    isWanted: () => true,
    ending: signal,
  })

async function happened(): Promise<string> {
  const id = newId('event')
  await pool.query(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     values ($1, $2, $3, 'agent.created', '{}', 'request_1', now(), 'key', 'agents.create', 'done', 'agent_1')`,
    [id, tenant.ownerId, tenant.mode],
  )
  return id
}

const MOST_HEARTBEATS = 12

describe('requests that wait for an event', () => {
  test('get it without the pause in which streams collect events', async () => {
    const waiting = new AbortController()
    const reading = (await waitUntil(waiting))?.[Symbol.asyncIterator]()
    const nextIds = async () => {
      for (let heartbeats = 0; heartbeats < MOST_HEARTBEATS; heartbeats++) {
        const { value } = (await reading?.next()) ?? {}
        if (value?.length > 0) return value.map(({ id }: { id: string }) => id)
      }
      return []
    }
    for (let count = 0; count < 2; count++) {
      const id = await happened()
      expect(await nextIds()).toEqual([id])
    }
    waiting.abort()
  })

  test('are bounded in a process, and the place of one that is over is free', async () => {
    const one = new AbortController()
    const others = Array.from({ length: MAX_EVENT_WAITS - 1 }, () => waitUntil(ending))
    expect((await Promise.all([waitUntil(one), ...others])).includes(undefined)).toBe(false)
    expect(await waitUntil(ending)).toBeUndefined()
    one.abort()
    expect(await waitUntil(ending)).toBeDefined()
  })
})
