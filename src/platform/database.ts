import { type EntityClass, FlushMode } from '@mikro-orm/core'
import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import type { Database } from '../kernel/database.ts'
import { migrations } from '../migrations/index.ts'

/** Any number that no other lock of ours uses: two processes that migrate at once take turns. */
const MIGRATION_LOCK = 7_340_921

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
    driverOptions: { connectionTimeoutMillis: 5_000, keepAlive: true },
    logger: () => undefined,
  })
  const pool = await orm.em.getConnection().getNativeClient()
  return { pool, fork: () => orm.em.fork(), close: () => orm.close(true) }
}

/** Brings the schema up to date; safe to call from several processes at once. */
export async function migrate(url: string): Promise<void> {
  const guard = new pg.Client({ connectionString: url })
  await guard.connect()
  try {
    await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await runMigrations(url)
  } finally {
    await guard.end()
  }
}

async function runMigrations(url: string): Promise<void> {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: { migrationsList: migrations, snapshotOnMigrate: false },
    logger: () => undefined,
  })
  try {
    await orm.migrator.up()
  } finally {
    await orm.close(true)
  }
}
