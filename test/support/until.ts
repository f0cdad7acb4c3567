import { setTimeout as sleep } from 'node:timers/promises'

/** Long enough on a busy machine: a successful wait costs nothing. */
export const DEADLINE_MS = 60_000

/** Polls until a condition holds, less often the longer it waits, as each check takes processor time. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = DEADLINE_MS,
): Promise<NonNullable<T>> {
  const began = performance.now()
  while (performance.now() - began < deadlineMs) {
    const value = await condition()
    if (value) return value
    await sleep(Math.max(20, (performance.now() - began) / 8))
  }
  throw new Error(`Timed out: ${what}`)
}
