import type { Context } from '../contract/context.ts'
import type { Keepable } from '../contract/upload.ts'

/** Sweep and keeping of one file exclude each other: see `sweepFiles`. */
export const FILE_LOCK = `hashtextextended(concat_ws('|', 'file', $1::text, $2::text, $3::text), 0)`

const KEEP = `
with locked as (select pg_advisory_xact_lock(${FILE_LOCK}))
insert into stored_files (owner_id, mode, sha256, used_by, bytes, type, created_at)
select $1, $2, $3, $4, $5, $6, $7 from locked
on conflict do nothing`

const RELEASE = `
delete from stored_files where owner_id = $1 and mode = $2 and sha256 = any($3::text[]) and used_by = $4`

type FileContext = Pick<Context, 'sql' | 'tenant' | 'now'>

/**
 * Keeps a file that came with the request, for the record with this id: the file has its name on disk before the row that
 * says so is committed. Where the request is refused or undone, nothing of it stays.
 */
export async function keepFile(file: Keepable, usedBy: string, context: FileContext): Promise<void> {
  const { sql, tenant, now } = context
  if (!file.staged) throw new Error('a file is kept by the request that has brought it')
  const { sha256, size, kind } = file
  await sql(KEEP, [tenant.ownerId, tenant.mode, sha256, usedBy, size, kind, now])
  await file.staged.keep()
}

/** Keeps several files for one record: their rows are one round trip, and they share flushes of their folder. */
export async function keepFiles(
  files: readonly Keepable[],
  usedBy: string,
  context: FileContext,
): Promise<void> {
  await Promise.all(files.map(file => keepFile(file, usedBy, context)))
}

/** The record uses these files no longer: those that no other record uses are erased within half an hour. */
export async function releaseFiles(
  sha256s: readonly string[],
  usedBy: string,
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): Promise<void> {
  if (sha256s.length > 0) await sql(RELEASE, [tenant.ownerId, tenant.mode, sha256s, usedBy])
}
