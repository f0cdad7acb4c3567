import { lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removePostgres } from '../../src/dev/postgres/embedded-postgres.ts'
import { isRunning } from '../../src/dev/processes/process-table.ts'

/** Creates this run's folder, and removes those of earlier runs that failed or were killed. */
export async function ownFolder(prefix: string): Promise<string> {
  const start = join(tmpdir(), prefix)
  const all = readdirSync(tmpdir()).map(name => join(tmpdir(), name))
  for (const path of all.filter(path => path.startsWith(start)))
    if (isAbandoned(path, path.slice(start.length))) await discardFolder(path)
  const folder = start + process.pid
  // Some programs in it run as another user.
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

/** A folder of ours that is named after a process that has ended, and nothing that is only called alike. */
function isAbandoned(path: string, rest: string): boolean {
  if (!/^\d+$/.test(rest)) return false
  const pid = Number(rest)
  const found = lstatSync(path)
  const isOurs = found.isDirectory() && found.uid === process.getuid?.()
  return isOurs && (pid === process.pid || !isRunning(pid))
}

export async function discardFolder(folder: string): Promise<void> {
  await removePostgres(folder)
  rmSync(folder, { recursive: true })
}

/** Closes in reverse order of opening. */
export async function closeAll(closers: (() => unknown)[]): Promise<void> {
  for (let closer = closers.pop(); closer; closer = closers.pop()) await closer()
}
