import { describe, expect, test } from '@jest/globals'
import { openService } from '../../../src/app/service.ts'
import { MAX_EVENT_STREAMS } from '../../../src/kernel/contract/follow.ts'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { type EventStream, openStream } from '../../support/delivery/event-stream.ts'
import { aKey, anAgent, aToken } from '../../support/factories.ts'
import { flakyProxy } from '../../support/flaky-proxy.ts'
import { secretSettings, startTestService, UNLIMITED } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

const service = await startTestService()
const second = await service.another()
const proxy = await flakyProxy(service.databaseUrl)

const placesOf = async (ownerId: string): Promise<number> =>
  (await service.sql('select from event_streams where owner_id = $1', [ownerId])).length

describe('a stream ends', () => {
  test('when its key is revoked, here and in another process; that of another key goes on', async () => {
    const { client, key } = await service.owner()
    const doomed = await aKey(client)
    const streams = await Promise.all(
      [service.url, second].map(url => openStream(url, { token: String(doomed.key) })),
    )
    const other = await openStream(second, { token: key })
    await client.keys.revoke({ params: { id: doomed.id } })
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(['ended', 'ended'])
    const { id } = await anAgent(client)
    await until('the other one goes on', () => other.events.some(({ data }) => data.agentId === id))
    const again = await openStream(service.url, { token: String(doomed.key) })
    expect(again.status).toBe(401)
    other.close()
  })

  test('when an agent’s token is revoked, or expires', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    const [revoked, expiring] = [await aToken(client, id), await aToken(client, id)]
    const streams = await Promise.all(
      [revoked, expiring].map(({ token }) => openStream(second, { token: String(token) })),
    )
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    await client.agentTokens.revoke({ params: { id, tokenId: revoked.id } })
    await streams[0]?.ended
    await service.sql('update agent_tokens set expires_at = now() where id = $1', [expiring.id])
    expect(await streams[1]?.ended).toBe('ended')
  })

  test('when the person’s session ends', async () => {
    const owner = await service.owner()
    const { headers, client } = await signedInTo(service, owner)
    const stream = await openStream(second, { headers })
    expect(stream.status).toBe(200)
    await client.console.signOut()
    expect(await stream.ended).toBe('ended')
  })

  test('when the process stops, which does not wait for it', async () => {
    const { ownerId, key } = await service.owner()
    const settings = { ...readSettings({ ...UNLIMITED, LOG_LEVEL: 'silent' }), ...secretSettings }
    const stopped = await openService({
      settings: { ...settings, databaseUrl: service.databaseUrl },
      shared: true,
    })
    const url = `http://127.0.0.1:${await stopped.listen(0, '127.0.0.1')}`
    const streams = await Promise.all([1, 2, 3].map(() => openStream(url, { token: key })))
    await stopped.stop()
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(['ended', 'ended', 'ended'])
    expect(await placesOf(ownerId)).toBe(0)
  })
})

describe('a process with open streams whose database is away', () => {
  test('stops all the same, and ends them', async () => {
    const { key } = await service.owner()
    const settings = { ...readSettings({ ...UNLIMITED, LOG_LEVEL: 'silent' }), ...secretSettings }
    const stopped = await openService({ settings: { ...settings, databaseUrl: proxy.url }, shared: true })
    const url = `http://127.0.0.1:${await stopped.listen(0, '127.0.0.1')}`
    const streams = await Promise.all([1, 2, 3].map(() => openStream(url, { token: key })))
    expect(streams.map(({ status }) => status)).toEqual([200, 200, 200])
    await proxy.close()
    await stopped.stop()
    // A stream that was just reading is cut: its client resumes as the others do.
    for (const { ended } of streams) expect(['ended', 'cut']).toContain(await ended)
    await expect(openStream(url, { token: key })).rejects.toThrow('ECONNREFUSED')
  })
})

describe('a stream of a person in the console', () => {
  test('is no activity of the person', async () => {
    const owner = await service.owner()
    const { headers, sessionId } = await signedInTo(service, owner)
    await service.sql(`update console_sessions set last_used_at = '2026-01-01' where id = $1`, [sessionId])
    const stream = await openStream(service.url, { headers })
    await anAgent(owner.client)
    await until('an event has come', () => stream.ids.length > 0)
    const [row] = await service.sql<{ used: Date }>(
      'select last_used_at as used from console_sessions where id = $1',
      [sessionId],
    )
    expect(row?.used.toISOString()).toBe('2026-01-01T00:00:00.000Z')
    stream.close()
  })
})

describe('the streams of an owner', () => {
  test('are at most 20 at once, in all processes and both modes together', async () => {
    const owner = await service.owner()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
    const live = String((await aKey(owner.client, { environment: 'live' })).key)
    const opened = await Promise.all(
      Array.from({ length: MAX_EVENT_STREAMS + 5 }, (_, n) =>
        openStream(n % 2 === 0 ? service.url : second, { token: n % 3 === 0 ? live : owner.key }),
      ),
    )
    const [open, refused] = [200, 429].map(status => opened.filter(stream => stream.status === status))
    expect([open?.length, refused?.length]).toEqual([MAX_EVENT_STREAMS, 5])
    expect(refused?.[0]?.headers).toMatchObject({
      'x-error-code': 'too_many_streams',
      'retry-after': expect.stringMatching(/^\d+$/),
    })
    const stranger = await openStream(service.url, { token: (await service.owner()).key })
    expect(stranger.status).toBe(200)
    open?.[0]?.close()
    await until('there is room again', async () => (await placesOf(owner.ownerId)) < MAX_EVENT_STREAMS)
    const next = await openStream(second, { token: owner.key })
    expect(next.status).toBe(200)
    for (const stream of [...(open ?? []), next, stranger] as EventStream[]) stream.close()
    await until('all places are free', async () => (await placesOf(owner.ownerId)) === 0)
  })

  test('do not count whose client has left while they were being opened', async () => {
    const { ownerId, key } = await service.owner()
    const lock = `select pg_advisory_xact_lock(hashtextextended('streams ' || $1, 0))`
    const isThere = async (what: string) =>
      (await service.sql(`select from pg_stat_activity where datname = current_database() and ${what}`))
        .length > 0
    await withConnection(service.databaseUrl, async holder => {
      await holder.query('begin')
      await holder.query(lock, [ownerId])
      const leaving = new AbortController()
      const asked = fetch(`${service.url}/events/stream`, {
        headers: { authorization: `Bearer ${key}` },
        signal: leaving.signal,
      })
      await until('it waits for its place', () => isThere(`wait_event_type = 'Lock'`))
      const [now] = await service.sql<{ at: string }>('select clock_timestamp()::text as at')
      leaving.abort()
      await expect(asked).rejects.toThrow()
      const given = `state = 'idle' and query like 'delete from event_streams %' and query_start > '${now?.at}'`
      await until('it is given back', () => isThere(given))
      await holder.query('commit')
      // A waiter for the lock gets it when the place is taken.
      await holder.query('begin')
      await holder.query(lock, [ownerId])
      await holder.query('commit')
    })
    await until('its place is free', async () => (await placesOf(ownerId)) === 0)
    const stream = await openStream(service.url, { token: key })
    expect(stream.status).toBe(200)
    expect(await placesOf(ownerId)).toBe(1)
    stream.close()
  })

  test('do not count once their process has died', async () => {
    const { ownerId, key } = await service.owner()
    await service.sql(
      `insert into process_leases (id, kind, held_until) values ('dead', 'streams', now() + interval '1 hour')`,
    )
    await service.sql(
      `insert into event_streams (owner_id, place, id, leased_by, opened_at)
       select $1, n, 'stream_' || n, 'dead', now() from generate_series(1, 20) n`,
      [ownerId],
    )
    const refused = await openStream(service.url, { token: key })
    expect(refused.status).toBe(429)
    await service.sql(`update process_leases set held_until = now() - interval '1 ms' where id = 'dead'`)
    const stream = await openStream(service.url, { token: key })
    expect(stream.status).toBe(200)
    stream.close()
  })

  test('are counted by a metric', async () => {
    const { key } = await service.owner()
    const countNow = async (): Promise<number> => {
      const { text } = await service.http('GET', '/metrics', {
        headers: { 'x-dashboard-secret': service.dashboardSecret },
      })
      return Number(/^event_streams (\d+)$/m.exec(text)?.[1])
    }
    await until('those of the tests before are closed', async () => (await countNow()) === 0)
    const stream = await openStream(service.url, { token: key })
    expect(await countNow()).toBe(1)
    stream.close()
    await until('it is closed', async () => (await countNow()) === 0)
  })
})
