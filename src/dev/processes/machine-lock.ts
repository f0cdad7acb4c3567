import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { host } from '../host.mjs'

/**
 * Holds a file for this process alone, until it gives it back or dies: the kernel then frees it. Node itself can lock
 * no file, the SQLite in it can. Null where another holds it.
 */
export function lockFile(path: string): { release(): void } | null {
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
  const database = new DatabaseSync(path)
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if ((error as { errcode?: number }).errcode === BUSY) return null
    throw error
  }
}

const BUSY = 5

const POLL_MS = 250

/**
 * A name that one process of this machine can hold: an abstract socket, which the kernel takes back when that process
 * dies, or the path of a socket, whose file stays behind and is guarded by a lock.
 */
export function nameFor(path: string, { hasAbstractSockets } = host): string {
  const name = `agentpay-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
  return hasAbstractSockets ? `\0${name}` : join(tmpdir(), name)
}

export async function tryHold(name: string, server: Server): Promise<boolean> {
  if (!name.startsWith('\0') && !holdPath(name, server)) return false
  try {
    await once(server.listen(name), 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

/** Makes room for the socket of the one who holds the lock beside it, as long as the server is open. */
function holdPath(path: string, server: Server): boolean {
  const lock = lockFile(`${path}.lock`)
  if (!lock) return false
  rmSync(path, { force: true })
  server.once('close', () => lock.release())
  return true
}

/** Does work on a path that only one process of this machine may do at a time. */
export async function withMachineLock<T>(
  path: string,
  onWait: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const server = createServer().unref()
  for (let isFirst = true; !(await tryHold(nameFor(path), server)); isFirst = false) {
    if (isFirst) onWait()
    await sleep(POLL_MS)
  }
  try {
    return await work()
  } finally {
    server.close()
  }
}
