import { setTimeout as sleep } from 'node:timers/promises'
import type { GuardedChild } from './guarded-child.ts'

export interface KeptServer {
  /** Resolves after `stop`; rejects if the server ended by itself and did not start again. */
  ended: Promise<void>
  stop(): Promise<void>
}

const RETRY_MS = 250
const RETRIES = 20

/** Starts a server again whenever it ends by itself. */
export function keepRunning(first: GuardedChild, again: () => Promise<GuardedChild>): KeptServer {
  let server = first
  let stopping = false
  async function watch(): Promise<void> {
    await server.ended
    if (stopping) return
    server = await persist(again)
    if (stopping) server.end()
    return watch()
  }
  const ended = watch()
  const stop = () => {
    stopping = true
    server.end()
    return ended
  }
  return { ended, stop }
}

/** The remains of a killed server may block the start for a moment. */
async function persist(start: () => Promise<GuardedChild>): Promise<GuardedChild> {
  for (let tries = 1; ; tries++) {
    try {
      return await start()
    } catch (error) {
      if (tries === RETRIES) throw error
      await sleep(RETRY_MS)
    }
  }
}
