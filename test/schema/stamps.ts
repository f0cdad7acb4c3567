import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { checksumOf, checksumOfAll, type Migration, schemaHistory } from '../../src/migrations/index.ts'
import { isToBeStamped, migrate, updateSchema } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'
import { describeSchema } from '../support/schema/catalog.ts'
import { stampsOf } from '../support/schema/fold.ts'

const { migrations, stamps } = schemaHistory()
const [baseline] = migrations as [Migration, ...Migration[]]

const clients: pg.Client[] = []
afterAll(() => Promise.all(clients.map(client => client.end())))

async function opened(): Promise<{ url: string; client: pg.Client }> {
  const url = await cloneDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  clients.push(client)
  return { url, client }
}

const appliedIn = async (client: pg.Client) =>
  (await client.query('select name, checksum from migration_checksums order by name')).rows

/** What the last schema before the baseline had, and the baseline has not. */
const OF_0_5_0 = `
create table mikro_orm_migrations (id serial primary key, name varchar(255), executed_at timestamptz default now());
create table audit_entries (id text primary key);
create function complete_event() returns trigger language plpgsql as 'begin return null; end';
create constraint trigger audit_entries_complete_events after insert on audit_entries deferrable initially deferred
  for each row execute function complete_event();
create function suspension_ends() returns trigger language plpgsql as 'begin return new; end';
create trigger customers_suspension_ends before update of status on customers
  for each row execute function suspension_ends();
create function spend_part_is_kept() returns trigger language plpgsql as 'begin return new; end';
create trigger spend_position_keeps_part before update on spend_position
  for each row execute function spend_part_is_kept();
create function open_counters(text, text, text[], date, text[], text[], text[]) returns int return 1;
alter table passkeys add column failures integer not null default 0;
alter table events alter column actor_type set default '', alter column action set default '',
  alter column outcome set default '', alter column resource_id set default '';
update migration_checksums set name = 'm0208-leased-calls', checksum = 'of 0.5.0'`

describe('a database of the last schema before the baseline', () => {
  let url: string
  let client: pg.Client
  let expected: string[]
  beforeAll(async () => {
    ;({ url, client } = await opened())
    expected = await describeSchema(client)
    await client.query(OF_0_5_0)
  })

  test('is refused, with what to do, if it is not exactly that schema', async () => {
    const [stamp] = stamps
    expect(stamp).toMatchObject({ of: '0.5.0', applied: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect(await isToBeStamped(url)).toBe(false)
    await expect(migrate(url)).rejects.toThrow(
      'This database was made by a commit before the last one of version 0.5.0, and this version takes over data of 0.5.0 only. Nothing was changed. Start the last commit of version 0.5.0 with it once, and then this one. Or begin with an empty database: npm run reset deletes all data.',
    )
    expect(await appliedIn(client)).toEqual([{ name: 'm0208-leased-calls', checksum: 'of 0.5.0' }])
  })

  test('is taken over by its stamp, once, and is then as a new one', async () => {
    const applied = checksumOfAll(await appliedIn(client))
    const history = { migrations, stamps: stamps.map(stamp => ({ ...stamp, applied })), released: {} }
    await updateSchema(client, history)
    await updateSchema(client, history)
    expect(await appliedIn(client)).toEqual(migrations.map(({ name, checksum }) => ({ name, checksum })))
    expect(await describeSchema(client)).toEqual(expected)
    await migrate(url)
  })
})

describe('migrations that were folded into the baseline', () => {
  const migration = (name: string, text: string): Migration => ({ name, text, checksum: checksumOf(text) })
  const notes = migration('0002-notes', 'create table notes (id text primary key);')
  const labels = migration('0003-labels', 'alter table notes add column label text;')
  const folded = migration(
    baseline.name,
    `${baseline.text}\ncreate table notes (id text primary key, label text);`,
  )
  const before = [baseline, notes, labels]
  const released = { '0.6.0': { [baseline.name]: baseline.checksum, [notes.name]: notes.checksum } }
  const now = { migrations: [folded], stamps: stampsOf(before, released), released }

  async function madeBy(count: number): Promise<pg.Client> {
    const { client } = await opened()
    for (const { name, text, checksum } of before.slice(1, count)) {
      await client.query(text)
      await client.query('insert into migration_checksums (name, checksum) values ($1, $2)', [name, checksum])
    }
    return client
  }

  test.each([
    ['the last released version', 2],
    ['the last commit', 3],
  ])('are taken over from the schema of %s', async (_, count) => {
    const client = await madeBy(count)
    await updateSchema(client, now)
    expect(await appliedIn(client)).toEqual([{ name: folded.name, checksum: folded.checksum }])
    expect(
      (await describeSchema(client))
        .filter(line => line.startsWith('column notes.'))
        .map(line => line.slice(0, 20)),
    ).toEqual(['column notes.id text', 'column notes.label t'])
  })

  test('are refused from a commit in between, with the commit to start first', async () => {
    const client = await madeBy(2)
    const later = { ...released, '0.6.0': { [baseline.name]: baseline.checksum } }
    const last = { ...now, stamps: stampsOf(before, later), released: later }
    await expect(updateSchema(client, last)).rejects.toThrow(
      'This database was made by a commit before the last one of version 0.6.0, and this version takes over data of 0.6.0 only. Nothing was changed. Start the last commit of version 0.6.0 with it once, and then this one.',
    )
  })

  test('are refused from an earlier released version, by its name', async () => {
    const client = await madeBy(1)
    const older = { '0.5.9': { [baseline.name]: baseline.checksum }, ...released }
    await expect(updateSchema(client, { ...now, released: older })).rejects.toThrow(
      'This database was made by version 0.5.9',
    )
  })
})
