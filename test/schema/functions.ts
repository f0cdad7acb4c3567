import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { sqlFunctions } from '../../src/migrations/functions.ts'
import { requireMigrated } from '../../src/platform/database.ts'
import { migrateDatabase } from '../../src/platform/schema.ts'
import { cloneDatabase } from '../support/database.ts'

const url = await cloneDatabase()
const client = new pg.Client({ connectionString: url })
await client.connect()
afterAll(() => client.end())

const rowsOf = async (sql: string, values: readonly unknown[] = []) =>
  (await client.query(sql, [...values])).rows

const STUB = `create or replace function periods_of(day date) returns text[] language sql immutable return array['stub']`
const defineStub = async (text: string, checksum: string) => {
  await client.query(text)
  await client.query(`insert into applied_functions (name, checksum) values ('periods_of', $1)`, [checksum])
}
const periods = async () => (await rowsOf(`select periods_of('2026-03-01')`))[0].periods_of
const appliedCount = async () => Number((await rowsOf('select count(*) from applied_functions'))[0].count)

const PERIODS = ['all', 'day:2026-03-01', 'month:2026-03']

describe('the functions of the database', () => {
  beforeEach(async () => {
    await migrateDatabase(url)
    expect(await periods()).toEqual(PERIODS)
  })

  test('have one file each', async () => {
    const rows = await rowsOf(
      `select proname as name from pg_proc where pronamespace = 'public'::regnamespace order by proname collate "C"`,
    )
    expect(rows.map(({ name }) => name)).toEqual(
      sqlFunctions()
        .map(({ name }) => name)
        .sort(),
    )
  })

  test('are defined after the functions that they call', () => {
    const names = sqlFunctions().map(({ name }) => name)
    expect(names.indexOf('periods_of')).toBeLessThan(names.indexOf('open_limits'))
    expect(names.indexOf('has_waiting')).toBeLessThan(names.indexOf('overfull_webhooks'))
  })

  test('are not redefined while their files stay the same', async () => {
    const before = await appliedCount()
    await migrateDatabase(url)
    expect(await appliedCount()).toBe(before)
  })

  test('are redefined once when concurrent processes find a changed file', async () => {
    await defineStub(STUB, 'of another text')
    const before = await appliedCount()
    await Promise.all([migrateDatabase(url), migrateDatabase(url), migrateDatabase(url)])
    expect(await periods()).toEqual(PERIODS)
    expect(await appliedCount()).toBe(before + 1)
  })

  test('are restored if one was dropped', async () => {
    await client.query('drop function event_body')
    await migrateDatabase(url)
    expect(await rowsOf(`select from pg_proc where proname = 'event_body'`)).toHaveLength(1)
  })

  test('are not replaced by those of an older version', async () => {
    await defineStub(STUB, 'of a version to come')
    await client.query(`insert into migration_checksums (name, checksum) values ('9999-to-come', '')`)
    await migrateDatabase(url)
    expect(await periods()).toEqual(['stub'])
    await requireMigrated(url)
    await client.query(`delete from migration_checksums where name = '9999-to-come'`)
  })

  test('prevent a process from starting before a changed one is applied', async () => {
    await client.query(`delete from applied_functions where name = 'event_body'`)
    await expect(requireMigrated(url)).rejects.toThrow('Run migrate first')
  })

  test('stay unchanged if one of them cannot be defined', async () => {
    await defineStub(STUB, 'of another text')
    await client.query('drop function event_body')
    await client.query(
      'create function event_body(event text, created_at timestamptz, data jsonb) returns int return 1',
    )
    await client.query(
      `insert into applied_functions (name, checksum) values ('event_body', 'of another type')`,
    )
    await expect(migrateDatabase(url)).rejects.toThrow('cannot change return type')
    expect(await periods()).toEqual(['stub'])
    await client.query('drop function event_body')
  })
})

describe('the record of migrations', () => {
  test('refuses a migration that was edited after it had run', async () => {
    const edit = `update migration_checksums set checksum = $1 || checksum where name = '0001-baseline'`
    await client.query(edit, ['of another text '])
    await expect(migrateDatabase(url)).rejects.toThrow(
      'src/migrations/0001-baseline was edited after this database had run it. Restore it, and put the change into a new migration.',
    )
    await client.query(`update migration_checksums set checksum = right(checksum, 64)`)
  })

  test('cannot be changed by the role of the programs', async () => {
    await client.query('set role agentpay_application')
    await expect(client.query('delete from applied_functions')).rejects.toThrow('permission denied')
    await expect(client.query('delete from migration_checksums')).rejects.toThrow('permission denied')
    await client.query('reset role')
  })
})
