import { hash } from 'node:crypto'
import { DamagedFileError, type FileOwner, type FileStore } from '../../ports/files.ts'
import { formatBytes } from '../../values/bytes.ts'
import type { ReadContext, SqlContext } from '../contract/context.ts'
import type { RefusalSpec } from '../contract/operation.ts'
import { Problem } from '../contract/problem.ts'
import type { StorableFile } from '../contract/upload.ts'

const lockOf = (sha256: string): string =>
  `hashtextextended(concat_ws('|', 'file', $1::text, $2::text, ${sha256}), 0)`

/** The sweep and the keeping of one file exclude each other: see `sweepFiles`. */
export const FILE_LOCK_SQL = lockOf('$3::text')

/** Locks in the order of content: two requests with the same files cannot deadlock. */
const LOCK = `
select pg_advisory_xact_lock(${lockOf('one.sha256')})
from (select sha256 from unnest($3::text[]) as known(sha256) order by sha256) one`

/** Each row adds to the owner's usage under a lock that is held to the commit. */
const KEEP = `
insert into stored_files (owner_id, mode, sha256, used_by, bytes, type, created_at)
select $1, $2, one.sha256, $3, one.bytes, one.type, $4
from unnest($5::text[], $6::bigint[], $7::text[]) as one(sha256, bytes, type)
on conflict do nothing`

const RELEASE = `
delete from stored_files where owner_id = $1 and mode = $2 and sha256 = any($3::text[]) and used_by = $4`

const USED = 'select files, bytes from file_usage where owner_id = $1 and mode = $2'

interface FileUsage {
  readonly files: bigint
  readonly bytes: bigint
}

export async function fileUsage({ sql, tenant }: SqlContext): Promise<FileUsage> {
  const [used] = await sql<{ files: bigint; bytes: bigint }>(USED, [tenant.ownerId, tenant.mode])
  return used ?? { files: 0n, bytes: 0n }
}

/**
 * Keeps uploaded files for the record with this id: they have their names in the store before the rows that
 * say so are committed. If the request is refused or rolled back, nothing of them stays. Other uploads of the
 * owner wait from here to the commit, so this comes as late as it can.
 */
async function keepFiles(
  files: readonly StorableFile[],
  usedBy: string,
  { sql, tenant, now }: ReadContext,
): Promise<void> {
  const { ownerId, mode } = tenant
  const stagings = files.map(({ staged }) => staged)
  const sha256s = files.map(({ sha256 }) => sha256)
  await sql(LOCK, [ownerId, mode, sha256s])
  // At the same time: they share the flushes of their folder.
  await Promise.all(
    stagings.map(staged => {
      if (!staged) throw new Error('a file is kept by the request that has brought it')
      return staged.keep()
    }),
  )
  const [sizes, kinds] = [files.map(({ size }) => size), files.map(({ kind }) => kind)]
  await sql(KEEP, [ownerId, mode, usedBy, now, sha256s, sizes, kinds])
}

export const referenceStoredFile = (
  file: StorableFile,
  usedBy: string,
  context: ReadContext,
): Promise<void> => keepFiles([file], usedBy, context)

export async function referenceFilesWithinQuota(
  files: readonly StorableFile[],
  usedBy: string,
  context: ReadContext,
): Promise<void> {
  await keepFiles(files, usedBy, context)
  const { bytes } = await fileUsage(context)
  const quota = BigInt(context.ports.filesQuotaBytes)
  if (bytes <= quota) return
  const taken = BigInt(files.reduce((sum, { size }) => sum + size, 0))
  const used = bytes > taken ? bytes - taken : 0n
  throw new Problem('storage_full', fullText({ used, taken, quota }))
}

function fullText({ used, taken, quota }: Readonly<Record<'used' | 'taken' | 'quota', bigint>>): string {
  const free = quota > used ? quota - used : 0n
  const room = `${formatBytes(used)} of ${formatBytes(quota)} are used, ${formatBytes(free)} are free`
  return `Your storage quota is used up: ${room}, and this upload needs ${formatBytes(taken)} with its previews. Delete receipts that you no longer need, or ask the operator for a larger quota.`
}

/** The record uses these files no longer. Those without another record are erased within half an hour. */
export async function releaseStoredFiles(
  sha256s: readonly string[],
  usedBy: string,
  { sql, tenant }: SqlContext,
): Promise<void> {
  if (sha256s.length > 0) await sql(RELEASE, [tenant.ownerId, tenant.mode, sha256s, usedBy])
}

export const fileRefusals = {
  file_corrupt: [
    503,
    'The stored file is damaged, so it cannot be downloaded. The operator has been alerted and can restore it from a backup.',
  ],
  file_away: [
    503,
    'The file storage does not have the file, or does not answer at the moment. Try again later.',
  ],
} as const satisfies Record<string, RefusalSpec>

export async function readStoredFile(
  files: FileStore,
  owner: FileOwner,
  sha256: string,
): Promise<Uint8Array | keyof typeof fileRefusals> {
  try {
    const opened = await files.open(owner, sha256)
    if (!opened) return 'file_away'
    const pieces: Uint8Array[] = []
    for await (const piece of opened.content) pieces.push(piece)
    const content = Buffer.concat(pieces)
    return hash('sha256', content, 'hex') === sha256 ? content : 'file_corrupt'
  } catch (error) {
    return error instanceof DamagedFileError ? 'file_corrupt' : 'file_away'
  }
}
