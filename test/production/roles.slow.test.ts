import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { migrateDatabase } from '../../src/platform/schema.ts'
import { beforeRemoval, temporaryFolder } from '../support/processes/folders.ts'
import { createOwner, startApi } from '../support/processes/processes.ts'
import { makeSecrets, readCompose } from './compose.ts'
import { runScript, secretOf, startCluster } from './databases.ts'

const folder = temporaryFolder()
const compose = readCompose(makeSecrets(folder))
const { server, address } = await startCluster(folder, compose)
beforeRemoval(() => server.stop())

const urlAs = (user: string, secret: string, database = 'agentpay') =>
  `postgres://${user}:${secretOf(compose, secret)}@${address}/${database}`
const superuser = (database: string) => urlAs('postgres', 'postgres_password', database)
const migration = urlAs('agentpay_migration', 'migration_db_password')
const runtime = urlAs('agentpay', 'agentpay_db_password')

async function connected<T>(connectionString: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

const SCHEMA_CHANGES = [
  'create table mine (id int)',
  'alter table agents add mine int',
  'drop table agents',
  'truncate agents',
  'create or replace function mine() returns int language sql as $$ select 1 $$',
  'drop function ledger_post',
  'create schema mine',
  'create extension citext',
  'alter table ledger_entries disable trigger all',
  'alter role agentpay superuser',
  'set role agentpay_migration',
]

async function expectSeparateLogins(): Promise<void> {
  await migrateDatabase(migration)
  await connected(runtime, async client => {
    for (const statement of SCHEMA_CHANGES)
      await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/)
  })
  const api = await startApi(runtime)
  expect(await createOwner(api.url)).toMatch(/^sk_sandbox_/)
  api.kill('SIGTERM')
  expect(await api.exit).toBe(0)
}

describe('the database login of the programs', () => {
  test('can use the schema of the migration login, but cannot change it', async () => {
    await expectSeparateLogins()
  })

  test('cannot reach another database', async () => {
    const temporalDatabase = urlAs('agentpay', 'agentpay_db_password', 'temporal')
    await expect(connected(temporalDatabase, async () => null)).rejects.toThrow(
      'permission denied for database "temporal"',
    )
  })
})

test('a cluster whose schema belongs to the programs is converted to the migration login', async () => {
  await connected(superuser('postgres'), async admin => {
    await admin.query('drop database agentpay')
    await admin.query('drop role agentpay_migration')
    await admin.query('create database agentpay owner agentpay')
  })
  await migrateDatabase(runtime)
  await runScript(superuser('agentpay'), 'postgres-config/own-migration-login.sql', compose)
  await expectSeparateLogins()
})
