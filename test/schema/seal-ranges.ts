import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { schemaHistory } from '../../src/migrations/index.ts'
import { updateSchema } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'

const client = new pg.Client({ connectionString: await cloneDatabase() })
await client.connect()
afterAll(() => client.end())

const rowsOf = async (sql: string): Promise<pg.QueryResultRow[]> => (await client.query(sql)).rows

/**
 * 600 events of two trails, in 300 transactions. Transactions 41 to 43 were passed while they were open, and are sealed
 * behind 100; the event 77 is missing, and in the trail of live mode the seal 5.
 */
const SEALED = `
insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id, written_in)
select 'event_' || lpad(n::text, 26, '0'), 'customer_1', mode, 'a.b', '{}', 'r', now(), 'key', 'a.b', 'done', 'x', n / 2
from generate_series(1, 600) n, unnest(array['test', 'live']) mode where n <> 77;
insert into audit_seals (owner_id, mode, position, event_id, leaf, salts, commitments)
select 'customer_1', mode, row_number() over (partition by mode order by sealed, n) - 1, 'event_' || lpad(n::text, 26, '0'),
  sha256((mode || n)::bytea), jsonb_build_object('address', n::text), jsonb_build_object('address', 'hmac ' || n)
from generate_series(1, 600) n, unnest(array['test', 'live']) mode,
  lateral (select case when n / 2 between 41 and 43 then 100 else n / 2 end as sealed);
delete from audit_seals where mode = 'live' and position = 5`

const SEALS = 'select owner_id, mode, position, event_id, leaf, salts, commitments'

describe('the seals of a database of an earlier version', () => {
  let before: pg.QueryResultRow[]
  beforeAll(async () => {
    const migrations = schemaHistory().migrations.filter(({ name }) => name < '0003')
    await client.query('drop schema public cascade; create schema public; set check_function_bodies = off')
    await updateSchema(client, { migrations, stamps: [], released: {} })
    await client.query('select add_event_partitions()')
    await client.query(`set session_replication_role = replica; ${SEALED}; reset session_replication_role`)
    before = await rowsOf(`${SEALS} from audit_seals order by mode, position`)
    await updateSchema(client, { ...schemaHistory(), stamps: [] })
  })

  test('are the same, in ranges of a tile at most', async () => {
    const ofMode = (mode: string) => `${SEALS} from seals_between('customer_1', '${mode}', 0, 1000)`
    const after = await rowsOf(`${ofMode('live')} union all ${ofMode('test')} order by mode, position`)
    expect(after).toHaveLength(1_199)
    expect(after).toEqual(before)
    const ranges = await rowsOf(
      `select position::int as first, cardinality(event_ids) as entries from audit_seals where mode = 'test' order by 1`,
    )
    expect(
      ranges.every(
        ({ first, entries }) => Math.floor(first / 256) === Math.floor((first + entries - 1) / 256),
      ),
    ).toBe(true)
    expect(ranges.length).toBeLessThan(12)
  })

  test('are in ranges of the order of the journal, beside those of late transactions', async () => {
    const overlaps = await rowsOf(
      `select from audit_seals one join audit_seals other using (owner_id, mode)
       where not one.is_late and not other.is_late and one.position < other.position
         and other.first_written_in < one.last_written_in`,
    )
    expect(overlaps).toEqual([])
    const late = await rowsOf(
      `select first_written_in::int as first, last_written_in::int as last, cardinality(event_ids) as entries
       from audit_seals where is_late and mode = 'test' order by position`,
    )
    expect(late).toEqual([41, 42, 43].map(number => ({ first: number, last: number, entries: 2 })))
  })

  test('cannot be migrated while some of a late transaction are missing', async () => {
    await client.query('drop schema public cascade; create schema public')
    const migrations = schemaHistory().migrations.filter(({ name }) => name < '0003')
    await updateSchema(client, { migrations, stamps: [], released: {} })
    await client.query('select add_event_partitions()')
    await client.query(`set session_replication_role = replica; ${SEALED};
      update audit_sealing set written_in = 301, open = '{42}'; reset session_replication_role`)
    await expect(updateSchema(client, { ...schemaHistory(), stamps: [] })).rejects.toThrow(
      'in the middle of a transaction',
    )
  })
})
