import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { machineLockName, tryHoldMachineLock } from './processes/machine-lock.ts'

export interface DataDirectoryClaim {
  servedAt(url: string): void
}

/**
 * One process at a time uses a data directory. The claim is a socket: the kernel lets one process hold it and
 * releases it when that process dies, so no lock can be stale.
 */
export async function claimDataDirectory(dataDir: string): Promise<DataDirectoryClaim> {
  const name = machineLockName(dataDir)
  let answer = ''
  const server = createServer(asking => asking.end(answer)).unref()
  if (!(await tryHoldMachineLock(name, server))) throw new Error(await refusal(name))
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
