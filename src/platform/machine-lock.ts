import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 250

/** A name that one process of this machine can hold: the kernel takes it back when that process dies. */
export function nameFor(path: string): string {
  return `\0agentpay-${createHash('sha256').update(path).digest('hex').slice(0, 32)}`
}

export async function tryHold(name: string, server: Server): Promise<boolean> {
  try {
    await once(server.listen(name), 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

/** Does something that only one process at a time may do to a path. */
export async function alone<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  const server = createServer().unref()
  for (let told = false; !(await tryHold(nameFor(path), server)); told = true) {
    if (!told) onWait()
    await sleep(POLL_MS)
  }
  try {
    return await work()
  } finally {
    server.close()
  }
}
