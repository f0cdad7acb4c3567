import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removePostgres } from '../../src/dev/postgres/embedded-postgres.ts'
import { isRunning } from '../../src/dev/processes/process-table.ts'

/** Creates this run's folder, and removes those of earlier runs that failed or were killed. */
export async function ownFolder(prefix: string): Promise<string> {
  const start = join(tmpdir(), prefix)
  const all = readdirSync(tmpdir()).map(name => join(tmpdir(), name))
  const abandoned = all.filter(path => path.startsWith(start) && !isRunning(Number(path.slice(start.length))))
  for (const path of abandoned) await discardFolder(path)
  const folder = start + process.pid
  // Some programs in it run as another user.
  mkdirSync(folder, { mode: 0o755 })
  return folder
}

export async function discardFolder(folder: string): Promise<void> {
  await removePostgres(folder)
  rmSync(folder, { recursive: true })
}

/** Closes in reverse order of opening. */
export async function closeAll(closers: (() => unknown)[]): Promise<void> {
  for (let closer = closers.pop(); closer; closer = closers.pop()) await closer()
}
