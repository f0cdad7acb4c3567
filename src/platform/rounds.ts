import { setTimeout as pause } from 'node:timers/promises'

export interface Rounds {
  stop(): Promise<void>
}

/**
 * Repeats the work with a pause between rounds and never two at once. A failure is reported, and the rounds
 * continue.
 */
export function repeatEvery(
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
