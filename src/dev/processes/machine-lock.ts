import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { host } from '../host.mjs'

/**
 * Locks a file for this process until it releases it or dies; the kernel then frees it. Node cannot lock
 * files, but its SQLite can. Null if another process has the lock.
 */
export function lockFile(path: string): { release(): void } | null {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
    held.add(database)
    const release = () => {
      held.delete(database)
      database.close()
    }
    return { release }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === BUSY) return null
    throw error
  }
}

/** Referenced here because the garbage collector would close an unreferenced database and release its lock. */
const held = new Set<DatabaseSync>()

const BUSY = 5

const POLL_MS = 250

/**
 * A name that one process of this machine can hold: an abstract socket, which the kernel releases when that
 * process dies, or a socket's path, whose file stays behind and is guarded by a lock.
 */
export function machineLockName(path: string, { hasAbstractSockets } = host): string {
  const name = `agentpay-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  return hasAbstractSockets ? `\0${name}` : join(tmpdir(), name)
}

export async function tryHoldMachineLock(name: string, server: Server): Promise<boolean> {
  if (!name.startsWith('\0') && !holdPath(name, server)) return false
  try {
    await once(server.listen(name), 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

/**
 * Removes a stale socket file, which only the holder of the lock beside it may do, and keeps the lock while
 * the server is open.
 */
function holdPath(path: string, server: Server): boolean {
  const lock = lockFile(`${path}.lock`)
  if (!lock) return false
  rmSync(path, { force: true })
  server.once('close', () => lock.release())
  return true
}

/** Runs work that only one process of this machine may do at a time on a path. */
export async function withMachineLock<T>(
  path: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const server = createServer().unref()
  for (let isFirst = true; !(await tryHoldMachineLock(machineLockName(path), server)); isFirst = false) {
    if (isFirst) onWait()
    await sleep(POLL_MS)
  }
  try {
    return await work()
  } finally {
    server.close()
  }
}
