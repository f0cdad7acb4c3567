import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { nameFor, tryHold } from './processes/machine-lock.ts'

export interface Claim {
  servedAt(url: string): void
}

/**
 * One process at a time uses a data directory. The claim is a socket: the kernel lets one process hold it and
 * releases it when that process dies, so no lock can be stale.
 */
export async function claim(dataDir: string): Promise<Claim> {
  const name = nameFor(dataDir)
  let answer = ''
  const server = createServer(asking => asking.end(answer)).unref()
  if (!(await tryHold(name, server))) throw new Error(await refusal(name))
  return {
    servedAt(url) {
      answer = url
    },
  }
}

async function refusal(name: string): Promise<string> {
  const url = await text(connect(name)).catch(() => '')
  return url
    ? `The service is already running on this data directory: ${url}`
    : 'Another process is using this data directory.'
}
