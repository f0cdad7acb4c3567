import { Migrator } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import pg from 'pg'
import { migrations } from '../../src/migrations/index.ts'
import { cloneDatabase } from './database.ts'

/** A database as it was before this migration, with none of the functions that have files of their own. */
export async function databaseBefore(migration: string): Promise<string> {
  const url = await cloneDatabase()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('drop schema public cascade; create schema public')
  await client.end()
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations.filter(({ name }) => name < migration),
      snapshotOnMigrate: false,
    },
    logger: () => undefined,
  })
  await orm.migrator.up()
  await orm.close(true)
  return url
}
