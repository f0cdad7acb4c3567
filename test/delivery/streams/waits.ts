import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { eventStreams } from '../../../src/delivery/events/index.ts'
import { MAX_EVENT_WAITS } from '../../../src/kernel/contract/follow.ts'
import { ProcessLeases } from '../../../src/kernel/database/process-lease.ts'
import { openListener } from '../../../src/platform/listener.ts'
import { cloneDatabase } from '../../support/database.ts'

const databaseUrl = await cloneDatabase()
const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
const listener = openListener(databaseUrl)
const ending = new AbortController()
const streams = eventStreams({
  database: { pool },
  listen: (channel, onNotice) => listener.on(channel, onNotice),
  leases: new ProcessLeases({ pool }),
  times: {},
  onEvents: () => undefined,
  onFailure: () => undefined,
})

afterAll(async () => {
  ending.abort()
  await Promise.all([streams.stop(), listener.stop()])
  await pool.end()
})

const waitUntil = ({ signal }: AbortController) =>
  streams.wait({
    tenant: { ownerId: 'customer_1', mode: 'test' },
    from: undefined,
    isWanted: () => true,
    ending: signal,
  })

describe('requests that wait for an event', () => {
  test('are bounded in a process, and the place of one that is over is free', async () => {
    const one = new AbortController()
    const others = Array.from({ length: MAX_EVENT_WAITS - 1 }, () => waitUntil(ending))
    expect((await Promise.all([waitUntil(one), ...others])).includes(undefined)).toBe(false)
    expect(await waitUntil(ending)).toBeUndefined()
    one.abort()
    expect(await waitUntil(ending)).toBeDefined()
  })
})
