import { type EntityClass, FlushMode } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import type { Database } from '../kernel/database/prepared-sql.ts'
import { isUpToDate, updateSchema } from './schema.ts'

/** Any number that no other lock of ours uses: two processes that migrate at once take turns. */
const MIGRATION_LOCK = 7_340_921

/** For a connection, a statement, a server that has fallen silent, a client that has: milliseconds. */
const NOBODY_WAITS_FOR_EVER = {
  connectionTimeoutMillis: 5_000,
  statement_timeout: 5_000,
  query_timeout: 6_000,
  idle_in_transaction_session_timeout: 30_000,
  keepAlive: true,
}

/**
 * The role that may not change what the journal and the ledger have written. What we prepare asks by key: planned anew
 * for every call, it cost a fifth of the database's time. And what we ask for is in memory, or on a disk without arms:
 * for the price that is set by itself a batch would read whole tables.
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
    driverOptions: { ...NOBODY_WAITS_FOR_EVER, ...SESSION },
    logger: () => undefined,
  })
  const pool = await orm.em.getConnection().getNativeClient()
  return { pool, fork: () => orm.em.fork(), close: () => orm.close(true) }
}

/**
 * What PostgreSQL is to believe of a table that it has not looked at: that one owner has all of it. Left to itself it
 * takes two hundred owners for granted. Where a table fills faster than that is found out, it then reads all that a
 * tenant has (in foreign keys, too) in place of the one row of a key.
 */
const EXPECTED = `
select pg_restore_attribute_stats('schemaname', n.nspname::text, 'relname', c.relname::text, 'attname', a.attname::text,
  'inherited', false, 'null_frac', 0::real, 'avg_width', 20, 'n_distinct', expected.values::real)
from (values ('owner_id', 1), ('mode', 2)) as expected (column_name, values)
join pg_attribute a on a.attname = expected.column_name
join pg_class c on c.oid = a.attrelid and c.relkind = 'r'
join pg_namespace n on n.oid = c.relnamespace and n.nspname = current_schema()
where not exists (select from pg_stats s where (s.schemaname, s.tablename, s.attname) = (n.nspname, c.relname, a.attname))`

/** An address from which nothing comes back is one that cannot be reached. */
const ONE_CONNECTION = { connectionTimeoutMillis: 5_000 }

const OLDEST = 18

/** Said before anything has been changed. */
export function requireVersion(version: string): void {
  if (Number.parseInt(version, 10) < OLDEST)
    throw new Error(`DATABASE_URL leads to PostgreSQL ${version}: it must be ${OLDEST} or later.`)
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

/** For a process that leaves the schema alone. */
export async function requireMigrated(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...ONE_CONNECTION })
  await client.connect()
  try {
    if (!(await isUpToDate(client))) throw new Error('The database is not up to date: run migrate before.')
  } finally {
    await client.end()
  }
}
