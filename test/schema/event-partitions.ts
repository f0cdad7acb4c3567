import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { deleteExpiredRows } from '../../src/kernel/background/sweep.ts'
import { openDatabase } from '../../src/platform/database.ts'
import { firstIdAt } from '../../src/values/ids.ts'
import { anAgent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const application = new pg.Client({
  connectionString: service.databaseUrl,
  options: '-c role=agentpay_application',
})
await application.connect()
afterAll(() => application.end())

const partitions = async (): Promise<string[]> =>
  (
    await service.sql<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'events'::regclass order by 1`,
    )
  ).map(({ name }) => name)

function monthAfter(months: number): Date {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months))
}

const nameOf = (month: Date): string => `events_${month.toISOString().slice(0, 7).replace('-', '_')}`

const insertEvent = (id: string, ownerId: string): Promise<unknown> =>
  service.sql(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     values ($1, $2, 'test', 'agent.frozen', '{"agentId": "agent_1"}', 'r', now(), 'key', 'agents.freeze', 'done', 'agent_1')`,
    [id, ownerId],
  )

describe('the partitions of events', () => {
  test('are there for this month and the next three', async () => {
    const months = [0, 1, 2, 3].map(monthAfter)
    expect(await partitions()).toEqual(months.map(nameOf))
  })

  test('are made once, by any of several processes', async () => {
    const last = nameOf(monthAfter(3))
    await service.sql(`alter table events detach partition ${last}`)
    await service.sql(`drop table ${last}`)
    const made = await Promise.all(
      [1, 2, 3].map(() => service.sql<{ made: number }>('select add_event_partitions() as made')),
    )
    expect(made.flat().reduce((sum, row) => sum + row.made, 0)).toBe(1)
    expect(await partitions()).toContain(last)
  })

  test('are made by the sweep', async () => {
    const last = nameOf(monthAfter(3))
    await service.sql(`alter table events detach partition ${last}`)
    await service.sql(`drop table ${last}`)
    const database = openDatabase(service.databaseUrl, 1)
    await deleteExpiredRows(database, {})
    await database.close()
    expect(await partitions()).toContain(last)
  })

  test('are left to a later call while events are locked', async () => {
    const last = nameOf(monthAfter(3))
    await service.sql(`alter table events detach partition ${last}`)
    await service.sql(`drop table ${last}`)
    const holder = new pg.Client({ connectionString: service.databaseUrl })
    await holder.connect()
    await holder.query('begin; lock table events in share update exclusive mode')
    expect(await service.sql('select add_event_partitions() as made')).toEqual([{ made: 0 }])
    await holder.end()
    expect(await service.sql('select add_event_partitions() as made')).toEqual([{ made: 1 }])
  })

  test('divide the events by the month in their ids', async () => {
    const { ownerId } = await service.owner()
    for (const months of [-100, 0, 1, 2, 3]) {
      const begins = monthAfter(months)
      await insertEvent(`${firstIdAt('event', begins)}aaaaaaaaaaaaaaaa`, ownerId)
      const last = firstIdAt('event', new Date(monthAfter(months + 1).getTime() - 1))
      await insertEvent(`${last}zzzzzzzzzzzzzzzz`, ownerId)
    }
    const rows = await service.sql<{ name: string; rows: number }>(
      `select tableoid::regclass::text as name, count(*)::int as rows from events
       where owner_id = $1 and action = 'agents.freeze' group by 1 order by 1`,
      [ownerId],
    )
    const [first, ...others] = [0, 1, 2, 3].map(months => nameOf(monthAfter(months)))
    expect(rows).toEqual([{ name: first, rows: 4 }, ...others.map(name => ({ name, rows: 2 }))])
  })

  test('can be taken away, a month at a time, without touching the others', async () => {
    const { client, ownerId } = await service.owner()
    await insertEvent(`${firstIdAt('event', monthAfter(2))}bbbbbbbbbbbbbbbb`, ownerId)
    const before = (await bodyOf(client.events.list())).data
    const month = nameOf(monthAfter(2))
    await service.sql(`alter table events detach partition ${month} concurrently`)
    await anAgent(client)
    const after = (await bodyOf(client.events.list())).data
    expect(after.slice(2)).toEqual(before.slice(1))
    expect(await service.sql(`select id from ${month} where owner_id = $1`, [ownerId])).toEqual([
      { id: before[0]?.id },
    ])
    await service.sql(`alter table events attach partition ${month}
      for values from ('${firstIdAt('event', monthAfter(2))}') to ('${firstIdAt('event', monthAfter(3))}')`)
  })

  test('cannot be read, changed or emptied by the service behind the back of events', async () => {
    const [month] = await partitions()
    for (const statement of [
      `select from ${month}`,
      `update ${month} set action = 'x'`,
      `delete from ${month}`,
      `truncate ${month}`,
    ])
      await expect(application.query(statement)).rejects.toThrow('permission denied')
    for (const statement of [
      `update ${month} set action = 'x'`,
      `delete from ${month}`,
      `truncate ${month} cascade`,
    ])
      await expect(service.sql(statement)).rejects.toThrow('append-only')
  })

  test.each(['1970-01-01T00:00:00.000Z', '2026-03-29T01:59:59.999Z', '2261-12-31T23:59:59.001Z'])(
    'begin where the ids of %s begin',
    async at => {
      const [row] = await service.sql<{ id: string }>(`select first_id_at('event', $1::timestamptz) as id`, [
        at,
      ])
      expect(row?.id).toBe(firstIdAt('event', new Date(at)))
    },
  )
})
