import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { requireMigrated } from '../../../src/platform/database.ts'
import { migrateDatabase } from '../../../src/platform/schema.ts'
import { newId } from '../../../src/values/ids.ts'
import { openStream } from '../../support/delivery/event-stream.ts'
import { anAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'
import { INSERT } from './journal-rows.ts'

const service = await startTestService({ streamTimes: { pollMs: 20 } })

describe('a journal that was restored into another cluster', () => {
  test('is ahead of it, which a process says at its start, and which migrate mends: streams go on', async () => {
    const { client, ownerId, key } = await service.owner()
    const restored = newId('event')
    await service.sql(INSERT.replace('(id,', '(written_in, id,').replace('($1,', '(5000000000, $1,'), [
      restored,
      ownerId,
      'test',
      null,
    ])
    await expect(requireMigrated(service.databaseUrl)).rejects.toThrow('restored from a dump')
    await migrateDatabase(service.databaseUrl)
    await requireMigrated(service.databaseUrl)
    const stream = await openStream(service.url, { token: key, lastEventId: restored })
    await anAgent(client)
    const [created] = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    await stream.hasAll([String(created?.id)])
    expect(stream.ids).not.toContain(restored)
    stream.close()
    const [row] = await service.sql<{ at: string }>('select written_in as at from events where id = $1', [
      created?.id,
    ])
    expect(BigInt(row?.at ?? 0)).toBeGreaterThan(5_000_000_000n)
    // Another start leaves it as it is.
    await migrateDatabase(service.databaseUrl)
    const database = new pg.Client({ connectionString: service.databaseUrl })
    await database.connect()
    const added = await database.query('select journal_is_ahead_by() as by')
    await database.end()
    expect(added.rows).toEqual([{ by: '0' }])
  })

  test('ends its streams where the server has gone back behind what was read, and they can be resumed', async () => {
    const { client, key } = await service.owner()
    const stream = await openStream(service.url, { token: key })
    await anAgent(client)
    const [created] = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    await stream.hasAll([String(created?.id)])
    await service.sql('update journal_origin set added = added - 1000000')
    expect(await stream.ended).toBe('ended')
    await service.sql('update journal_origin set added = added + 1000000')
    const resumed = await openStream(service.url, { token: key, lastEventId: String(created?.id) })
    await anAgent(client)
    const [next] = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    await resumed.hasAll([String(next?.id)])
    resumed.close()
  })
})

const READ_SINCE = `
select from pg_stat_activity
where datname = current_database() and query like '%isHeldBack%' and state = 'idle' and query_start > $1`

test('a stream has the events of transactions whose numbers a crash of PostgreSQL has freed', async () => {
  const { client, ownerId, key } = await service.owner()
  const stream = await openStream(service.url, { token: key })
  await anAgent(client)
  const [first] = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
  await stream.hasAll([String(first?.id)])
  // As if these numbers were of transactions that did not wait for the disk.
  for (let n = 0; n < 20; n++) await service.sql('select pg_current_xact_id()')
  const [now] = await service.sql('select clock_timestamp() as at')
  await until('the journal is read', async () => (await service.sql(READ_SINCE, [now?.at])).length > 0)
  const late = newId('event')
  const freed = INSERT.replace('(id,', '(written_in, id,').replace('($1,', '($5, $1,')
  const [{ at } = { at: '' }] = await service.sql('select written_in as at from events where id = $1', [
    first?.id,
  ])
  await service.sql(freed, [late, ownerId, 'test', null, BigInt(at) + 1n])
  await stream.hasAll([late])
  expect(stream.ids.filter(id => id === late)).toHaveLength(1)
  stream.close()
})
