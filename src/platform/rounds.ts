import { setTimeout as pause } from 'node:timers/promises'

export interface RepeatedWork {
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
): RepeatedWork {
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

export interface RoundsOnWake extends RepeatedWork {
  readonly wake: () => void
}

/**
 * One round at the start, and one after each `wake`, `gatherMs` later: all that happens meanwhile shares it.
 * Never two at once; a failed round is repeated.
 */
export function repeatOnWake(
  gatherMs: number,
  work: () => Promise<unknown>,
  onFailure: (error: unknown) => void,
): RoundsOnWake {
  const stopping = new AbortController()
  let isWoken = false
  let resting = Promise.withResolvers<void>()
  const wake = (): void => {
    isWoken = true
    resting.resolve()
  }
  stopping.signal.addEventListener('abort', wake, { once: true })
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      isWoken = false
      await work().catch((error: unknown) => {
        onFailure(error)
        isWoken = true
      })
      resting = Promise.withResolvers()
      if (!isWoken) await resting.promise
      await pause(gatherMs, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined)
    }
  }
  const running = run()
  return {
    wake,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
