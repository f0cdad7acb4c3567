import { setTimeout as pause } from 'node:timers/promises'

export interface Rounds {
  /** Finishes the round that is under way. */
  stop(): Promise<void>
}

/** Does a thing again and again, never twice at once; a round that fails is told and the next one comes. */
export function everySoOften(
  milliseconds: number,
  work: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): Rounds {
  const stopping = new AbortController()
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await work().catch(onFailure)
      await pause(milliseconds, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}
