import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { text } from 'node:stream/consumers'

/** The right to use a data directory. */
export interface Claim {
  /** Tells whoever asks for the directory where it is served. */
  servedAt(url: string): void
}

/**
 * One process at a time uses a data directory. The claim is an abstract socket: the kernel lets one process
 * hold it and takes it back when that process dies, so there is no stale lock to judge.
 */
export async function claim(dataDir: string): Promise<Claim> {
  const name = `\0agentpay-${createHash('sha256').update(dataDir).digest('hex').slice(0, 32)}`
  let answer = ''
  const server = createServer(asking => asking.end(answer)).unref()
  if (!(await listens(server, name))) throw new Error(await refusal(name))
  return {
    servedAt(url) {
      answer = url
    },
  }
}

async function listens(server: Server, name: string): Promise<boolean> {
  try {
    await once(server.listen(name), 'listening')
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
}

async function refusal(name: string): Promise<string> {
  const url = await text(connect(name)).catch(() => '')
  return url
    ? `The service already runs on this data directory: ${url}`
    : 'Another process is at work in this data directory.'
}
