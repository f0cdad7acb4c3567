import { type EntityClass, FlushMode } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { isUpToDate, updateSchema } from './schema.ts'

/** The key of the advisory lock that serializes migrations: any number that no other lock uses. */
const MIGRATION_LOCK = 7_340_921

/** For connecting, a statement, a silent server and a silent client, in milliseconds. */
const TIMEOUTS = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  idle_in_transaction_session_timeout: 30_000,
  keepAlive: true,
}

/**
 * `role`: it may not change rows of the journal and the ledger. `plan_cache_mode`: prepared statements look rows up by
 * key, and planning them anew for each call took a fifth of the database's time. `random_page_cost`: the data is in
 * memory or on an SSD; with the default, made for spinning disks, batches would scan whole tables.
 */
const SESSION = {
  options: '-c role=agentpay_application -c plan_cache_mode=force_generic_plan -c random_page_cost=1.1',
}

export interface OpenDatabase extends Database {
  close(): Promise<void>
}

export async function openDatabase(
  url: string,
  entities: readonly EntityClass<object>[],
  poolSize: number,
): Promise<OpenDatabase> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities],
    flushMode: FlushMode.COMMIT,
    pool: { min: 0, max: poolSize },
    driverOptions: { ...TIMEOUTS, ...SESSION },
    logger: () => undefined,
  })
  const pool = await orm.em.getConnection().getNativeClient()
  return { pool, fork: () => orm.em.fork(), close: () => orm.close(true) }
}

/**
 * Statistics for tables that PostgreSQL has not analysed yet: one owner has all rows. By default it assumes two hundred
 * owners; a table that fills before it is analysed would then be read by tenant, in foreign keys too, and not by key.
 */
const EXPECTED = `
select pg_restore_attribute_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', a.attname::text,
  'inherited', false, 'null_frac', 0::real, 'avg_width', 20, 'n_distinct', expected.values::real)
from (values ('owner_id', 1), ('mode', 2)) as expected (column_name, values)
join pg_attribute a on a.attname = expected.column_name
join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
where not exists (select from pg_stats s where (s.schemaname, s.tablename, s.attname) = (n.nspname, c.relname, a.attname))`

const ONE_CONNECTION = { connectionTimeoutMillis: 5_000 }

const MIN_VERSION = 18

/** Checked before anything is changed. */
export function requireVersion(version: string): void {
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new Error(`DATABASE_URL leads to PostgreSQL ${version}: it must be ${MIN_VERSION} or later.`)
}

/** Brings the schema up to date; safe to call from several processes at once. */
export async function migrate(url: string): Promise<void> {
  const guard = new pg.Client({ connectionString: url, ...ONE_CONNECTION })
  await guard.connect()
  try {
    await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    const { rows } = await guard.query('show server_version')
    requireVersion(rows[0].server_version)
    await updateSchema(url)
    await guard.query(EXPECTED)
  } finally {
    await guard.end()
  }
}

/** Throws where a migration is missing: for processes that do not migrate. */
export async function requireMigrated(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...ONE_CONNECTION })
  await client.connect()
  try {
    if (!(await isUpToDate(client))) throw new Error('The database is not up to date: run migrate before.')
  } finally {
    await client.end()
  }
}
