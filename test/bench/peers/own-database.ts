import { removePostgres, startPostgres } from '../../../src/dev/postgres/embedded-postgres.ts'
import { removePostgresPaths } from '../../../src/dev/postgres/paths.ts'
import { type DatabaseClock, databaseClock } from '../database/database-time.ts'
import type { Place } from './compare.ts'

export interface OwnDatabase {
  readonly url: string
  readonly seconds: DatabaseClock
}

/** The PostgreSQL of a peer: the same version and settings as ours, in a cluster of its own. */
export async function openDatabase({ folder, closeLater }: Place): Promise<OwnDatabase> {
  process.once('exit', () => removePostgresPaths(folder))
  closeLater(() => removePostgres(folder))
  const { url, stop } = await startPostgres({ dataDir: folder, port: 0 })
  closeLater(stop)
  return { url: `${url}?sslmode=disable`, seconds: await databaseClock(url) }
}
