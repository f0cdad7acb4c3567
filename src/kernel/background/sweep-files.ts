import type { FileStore, UnreferencedFileBatch } from '../../ports/files.ts'
import { addMs, clock } from '../../values/clock.ts'
import { onConnection } from '../database/connection.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { FILE_LOCK_SQL } from '../database/stored-files.ts'

/** How long a file may exist without a row. Any request that uploads one is long over by then. */
export const UNREFERENCED_FILE_TTL_MS = 3_600_000

const USED = `
select one.sha256 from unnest($3::text[]) as one(sha256)
where exists (select from stored_files f where (f.owner_id, f.mode, f.sha256) = ($1, $2, one.sha256))`

const TRY_LOCK = `select pg_try_advisory_xact_lock(${FILE_LOCK_SQL}) as "isOurs"`

/**
 * Erases files that no record uses: their records are gone, or their request was rolled back after the file
 * got its name. Several processes may sweep at once.
 */
export async function sweepFiles(
  database: Database,
  files: FileStore,
  stopping?: AbortSignal,
): Promise<void> {
  const end = addMs(clock.real(), -UNREFERENCED_FILE_TTL_MS)
  await files.dropLeftovers(end)
  for await (const { owner, sha256s } of files.keptBefore(end)) {
    stopping?.throwIfAborted()
    const unused = await unusedOf(sqlOn(database.pool), { owner, sha256s })
    for (const sha256 of unused) await eraseUnused(database, files, { owner, sha256, end })
  }
}

async function unusedOf(
  sql: ReturnType<typeof sqlOn>,
  { owner, sha256s }: UnreferencedFileBatch,
): Promise<string[]> {
  const rows = await sql<{ sha256: string }>(USED, [owner.ownerId, owner.mode, sha256s])
  const used = new Set(rows.map(({ sha256 }) => sha256))
  return sha256s.filter(sha256 => !used.has(sha256))
}

interface Candidate {
  readonly owner: UnreferencedFileBatch['owner']
  readonly sha256: string
  readonly end: Date
}

/**
 * Checks again under the file's lock: an upload of the same content holds it until its commit, has committed,
 * or gives the file its name again.
 */
const eraseUnused = (
  database: Database,
  files: FileStore,
  { owner, sha256, end }: Candidate,
): Promise<void> =>
  onConnection(database, 'begin', async client => {
    const sql = sqlOn(client)
    const key = [owner.ownerId, owner.mode, sha256]
    const [lock] = await sql<{ isOurs: boolean }>(TRY_LOCK, key)
    if (lock?.isOurs) {
      const [used] = await sql(USED, [owner.ownerId, owner.mode, [sha256]])
      const keptAt = await files.keptAt(owner, sha256)
      if (!used && keptAt && keptAt < end) await files.erase(owner, sha256)
    }
    await client.query('commit')
  })
