import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import {
  checksumOfMigrations,
  type Migration,
  type ReleasedVersion,
  schemaHistory,
  textChecksum,
} from '../../src/migrations/index.ts'
import { hasOlderRuns, migrateDatabase, updateSchema } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'
import { describeSchema } from '../support/schema/catalog.ts'
import { stampsOf } from '../support/schema/fold.ts'
import { until } from '../support/until.ts'

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

/** A database with only the baseline, without later migrations. */
async function openedAtBaseline(): Promise<{ url: string; client: pg.Client }> {
  const { url, client } = await opened()
  // The bodies of functions name columns that later migrations add.
  await client.query('drop schema public cascade; create schema public; set check_function_bodies = off')
  await updateSchema(client, { migrations: [baseline], stamps: [], released: {} })
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
    const { client: other } = await openedAtBaseline()
    await updateSchema(other, { migrations, stamps: [], released: {} })
    expected = await describeSchema(other)
    ;({ url, client } = await openedAtBaseline())
    await client.query(OF_0_5_0)
  })

  test('is refused, with what to do, if it is not exactly that schema', async () => {
    const [stamp] = stamps
    expect(stamp).toMatchObject({ of: '0.5.0', applied: expect.stringMatching(/^[0-9a-f]{64}$/) })
    const refusal =
      'This database was made by a commit before the last one of version 0.5.0, and this version takes over data of 0.5.0 only. Nothing was changed. Start the last commit of version 0.5.0 with it once, and then this one. Or begin with an empty database: npm run reset deletes all data.'
    await expect(migrateDatabase(url)).rejects.toThrow(refusal)
    // Before the runs are ended, which come before migrating.
    await expect(hasOlderRuns(url)).rejects.toThrow(refusal)
    expect(await appliedIn(client)).toEqual([{ name: 'm0208-leased-calls', checksum: 'of 0.5.0' }])
  })

  test('is taken over by its stamp, once, and is then as a new one', async () => {
    const applied = checksumOfMigrations(await appliedIn(client))
    const history = { migrations, stamps: stamps.map(stamp => ({ ...stamp, applied })), released: {} }
    await updateSchema(client, history)
    await updateSchema(client, history)
    expect(await appliedIn(client)).toEqual(migrations.map(({ name, checksum }) => ({ name, checksum })))
    expect(await describeSchema(client)).toEqual(expected)
    await migrateDatabase(url)
    expect(await hasOlderRuns(url)).toBe(false)
  })
})

test('runs of a database with an edited migration are not ended', async () => {
  const { url, client } = await openedAtBaseline()
  expect(await hasOlderRuns(url)).toBe(true)
  await client.query(`update migration_checksums set checksum = 'edited'`)
  await expect(hasOlderRuns(url)).rejects.toThrow(`src/migrations/${baseline.name} was edited after this`)
})

describe('runs of the version before', () => {
  const stop =
    'Nothing was changed. Stop all of them: API processes, workers and relays. Then run this again.'

  test('are not ended while one of its programs holds a lease', async () => {
    const { url, client } = await openedAtBaseline()
    await client.query(
      `insert into process_leases values ('killed', 'outbox', now()), ('alive', 'calls', now() + interval '10 seconds')`,
    )
    const refused = hasOlderRuns(url)
    await expect(refused).rejects.toThrow(
      `at work on this database: they hold leases (process_leases). ${stop}`,
    )
    await expect(refused).rejects.toThrow(/If they were killed, wait ([1-9]|10) seconds\.$/)
    await client.query(`update process_leases set held_until = now()`)
    expect(await hasOlderRuns(url)).toBe(true)
  })

  test('are not ended while one of its programs is connected, even if it is idle', async () => {
    const { url, client } = await openedAtBaseline()
    const login = `programs_${randomUUID().slice(0, 8)}`
    await client.query(`create role ${login} login password 'secret' in role agentpay_application`)
    const programs = new pg.Client({
      connectionString: Object.assign(new URL(url), { username: login, password: 'secret' }).href,
    })
    await programs.connect()
    await expect(hasOlderRuns(url)).rejects.toThrow(
      `are connected to this database, as ${login} (pg_stat_activity). ${stop}`,
    )
    await programs.end()
    await until('the session ends', () => hasOlderRuns(url).catch(() => undefined))
    await client.query(`drop role ${login}`)
  })
})

describe('migrations that were folded into the baseline', () => {
  const migration = (name: string, text: string): Migration => ({ name, text, checksum: textChecksum(text) })
  const notes = migration('0002-notes', 'create table notes (id text primary key);')
  const labels = migration('0003-labels', 'alter table notes add column label text;')
  const folded = migration(
    baseline.name,
    `${baseline.text}\ncreate table notes (id text primary key, label text);`,
  )
  const before = [baseline, notes, labels]
  const version = (...migrations: readonly Migration[]): ReleasedVersion => ({
    commit: 'a'.repeat(40),
    migrations: Object.fromEntries(migrations.map(({ name, checksum }) => [name, checksum])),
  })
  const released = { '0.6.0': version(baseline, notes) }
  const now = { migrations: [folded], stamps: stampsOf(before, released), released }

  async function madeBy(count: number): Promise<pg.Client> {
    const { client } = await openedAtBaseline()
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
    const later = { ...released, '0.6.0': version(baseline) }
    const last = { ...now, stamps: stampsOf(before, later), released: later }
    await expect(updateSchema(client, last)).rejects.toThrow(
      'This database was made by a commit before the last one of version 0.6.0, and this version takes over data of 0.6.0 only. Nothing was changed. Start the last commit of version 0.6.0 with it once, and then this one.',
    )
  })

  test('are refused from an earlier released version, by its name', async () => {
    const client = await madeBy(1)
    const older = { '0.5.9': version(baseline), ...released }
    await expect(updateSchema(client, { ...now, released: older })).rejects.toThrow(
      'This database was made by version 0.5.9',
    )
  })
})

/**
 * The refund of a request in the two tables that held it, and its request: without foreign keys, as nothing
 * else is read.
 */
const REFUND_IN_TWO_TABLES = `
insert into payment_requests (owner_id, mode, id, created_at, updated_at, agent_id, wallet_id, amount_cents, description,
  metadata, reference, status, paid_cents, surplus_cents, refunded_cents, refunding_cents, expires_at, workflow_id)
values ('owner_1', 'test', 'request_1', now(), now(), 'agent_1', 'wallet_1', 5000, 'Book', '{}', 'REF', 'open', 0, 5000, 500,
  2000, now(), 'collect-1');
insert into request_refunds (owner_id, mode, id, created_at, updated_at, request_id, payment_id, way, status, amount_cents,
  reason, failure, transfer_id, attempts, due_at, completed_at)
values
  ('owner_1', 'test', 'requestrefund_1', now(), now(), 'request_1', 'requestpayment_1', 'sepa', 'returned', 1000, 'Torn',
    '{"code":"returned","message":"Closed."}', 'transfer_1', 0, null, now()),
  ('owner_1', 'test', 'requestrefund_2', now(), now(), 'request_1', 'requestpayment_2', 'card', 'pending', 2000, null,
    null, null, 3, '2026-11-23T10:00:00Z', null),
  ('owner_1', 'test', 'requestrefund_3', now(), now(), 'request_1', 'requestpayment_3', 'wallet', 'completed', 500, null,
    null, null, 0, null, now());
insert into refunds (owner_id, mode, id, created_at, updated_at, transaction_id, agent_id, status, origin, way, amount_cents,
  arrived_cents, reason, note, failure, source_type, source_id, attempts, completed_at)
values
  ('owner_1', 'test', 'refund_1', now(), now(), 'txn_1', 'agent_1', 'failed', 'asked', 'sepa', 1000, 0, 'other', 'Torn',
    '{"code":"returned","message":"Closed."}', 'request_refund', 'requestrefund_1', 0, now()),
  ('owner_1', 'test', 'refund_2', now(), now(), 'txn_2', 'agent_1', 'pending', 'asked', 'card', 2000, 0, 'requested', null,
    null, 'request_refund', 'requestrefund_2', 0, null)`

const MOVED = `
select id, request_id as request, payment_id as payment, transfer_id as transfer, status, attempts, ask_due_at as "askDueAt",
  arrived_cents::int as arrived, reason, source_id as source
from refunds order by id`

test('refunds of payment requests move into the one table of refunds, with and without a record there', async () => {
  const { client } = await openedAtBaseline()
  await client.query(`set session_replication_role = replica; ${REFUND_IN_TWO_TABLES}`)
  await updateSchema(client, { migrations, stamps: [], released: {} })
  const of = {
    request: 'request_1',
    transfer: null,
    attempts: 0,
    askDueAt: null,
    arrived: 0,
    reason: 'other',
  }
  expect((await client.query(MOVED)).rows).toEqual([
    {
      ...{ ...of, id: 'refund_1', payment: 'requestpayment_1', transfer: 'transfer_1', status: 'failed' },
      source: 'requestrefund_1',
    },
    {
      ...{ ...of, id: 'refund_2', payment: 'requestpayment_2', status: 'pending', attempts: 3 },
      ...{ askDueAt: new Date('2026-11-23T10:00:00Z'), reason: 'requested', source: 'requestrefund_2' },
    },
    {
      ...{ ...of, id: 'refund_3', payment: 'requestpayment_3', status: 'completed', arrived: 500 },
      source: 'requestrefund_3',
    },
  ])
})
