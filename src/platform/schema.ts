import type { Transaction } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { migrationChecksum } from '../migrations/checksums.ts'
import { sqlFunctions } from '../migrations/functions.ts'
import { migrations } from '../migrations/index.ts'

/** The key of the advisory lock that serializes migrations: any number that no other lock uses. */
const MIGRATION_LOCK = 7_340_921

/** What every start makes sure of. */
const AFTER_FUNCTIONS = `
select add_event_partitions();
select continue_journal();
select expect_statistics(oid) from pg_class
where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace`

const MIN_VERSION = 18

/** Checked before anything is changed. */
export function requireVersion(version: string): void {
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new Error(`DATABASE_URL leads to PostgreSQL ${version}: it must be ${MIN_VERSION} or later.`)
}

/** Brings the schema up to date; safe to call from several processes at once. */
export async function migrate(url: string): Promise<void> {
  const guard = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await guard.connect()
  try {
    await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const { rows } = await guard.query('show server_version')
    requireVersion(rows[0].server_version)
    await updateSchema(url)
    await guard.query(AFTER_FUNCTIONS)
  } finally {
    await guard.end()
  }
}

type Query = <R extends object>(sql: string, values?: readonly unknown[]) => Promise<R[]>

/** Migrations and functions in one transaction: where one of them fails, the schema stays as it was. */
async function updateSchema(url: string): Promise<void> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshotOnMigrate: false },
    logger: () => undefined,
  })
  try {
    const connection = orm.em.getConnection()
    await connection.transactional(async (transaction: Transaction) => {
      const query: Query = (sql, values = []) => connection.execute(sql, [...values], 'all', transaction)
      const stored = await storedChecksums(query)
      refuseEdited(stored)
      await orm.migrator.up({ transaction })
      await keepChecksums(query, stored)
      await applyFunctions(query)
    })
  } finally {
    await orm.close(true)
  }
}

/** By the name of the migration. */
type Checksums = ReadonlyMap<string, string>

async function storedChecksums(query: Query): Promise<Checksums> {
  const [table] = await query<{ exists: boolean }>(
    `select to_regclass('migration_checksums') is not null as exists`,
  )
  if (!table?.exists) return new Map()
  const rows = await query<{ name: string; checksum: string }>(
    'select name, checksum from migration_checksums',
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}

/** A migration that this database has run is not run again: what was edited in it would be missing here for ever. */
function refuseEdited(stored: Checksums): void {
  const edited = migrations.find(
    migration => stored.has(migration.name) && stored.get(migration.name) !== migrationChecksum(migration),
  )
  if (edited)
    throw new Error(
      `src/migrations/${edited.name}.ts was edited after this database had run it. Restore it, and put the change into a new migration. (A migration that has not landed may be edited: npm run reset begins with an empty database.)`,
    )
}

/** A database of an earlier version has no checksums: it gets those of the text that has come with this one. */
async function keepChecksums(query: Query, stored: Checksums): Promise<void> {
  const added = migrations.filter(({ name }) => !stored.has(name))
  if (added.length === 0) return
  const rows = added.map(migration => ({ name: migration.name, checksum: migrationChecksum(migration) }))
  await query(
    `insert into migration_checksums (name, checksum)
    select name, checksum from json_to_recordset('${JSON.stringify(rows)}') as r (name text, checksum text)`,
  )
}

const IN_FORCE = `
select distinct on (name) name, checksum from applied_functions
where name in (select proname from pg_proc where pronamespace = current_schema()::regnamespace)
order by name, id desc`

/** Functions whose files have changed are defined anew; a version that is older than the schema changes none. */
async function applyFunctions(query: Query): Promise<void> {
  if (await isNewerThanWe(query)) return
  const rows = await query<{ name: string; checksum: string }>(IN_FORCE)
  const inForce = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  const changed = sqlFunctions().filter(({ name, checksum }) => inForce.get(name) !== checksum)
  if (changed.length === 0) return
  await query(changed.map(({ text }) => text).join('\n'))
  const applied = changed.map(({ name, checksum }) => ({ name, checksum }))
  await query(
    `insert into applied_functions (name, checksum)
    select name, checksum from json_to_recordset('${JSON.stringify(applied)}') as r (name text, checksum text)`,
  )
}

async function isNewerThanWe(query: Query): Promise<boolean> {
  const [row] = await query<{ newest: string }>(
    'select max(name collate "C") as newest from mikro_orm_migrations',
  )
  return (row?.newest ?? '') > (migrations.at(-1)?.name ?? '')
}
