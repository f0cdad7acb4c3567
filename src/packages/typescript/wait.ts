import { NoAnswer } from '../../derive/repeat.ts'
import { clock } from '../../values/system-clock.ts'
import type { CallOptions, WaitOptions } from './options.ts'
import { pause } from './send.ts'

/** In milliseconds; the last one from then on, which is rare enough for the rate limit of several that wait. */
const PAUSES = [500, 1_000, 2_000, 3_000, 5_000]
const WITHIN_MS = 600_000
/** What is left for the last attempt. */
const LEAST_MS = 1_000

/** Something that waits to be decided while its status is `created`. */
interface Decidable {
  readonly status: string
}

/**
 * Asks until the record is decided or has ended, and gives it; as it is then where that takes longer. While nobody answers, as
 * in a restart of the service, it goes on.
 */
async function untilDecided<T extends Decidable>(
  ask: (options: CallOptions) => Promise<T>,
  { withinMs = WITHIN_MS, ...options }: WaitOptions = {},
): Promise<T> {
  if (!(withinMs >= 0)) throw new TypeError('withinMs is a number of milliseconds, from 0 on')
  let leftMs = withinMs
  for (let n = 0; ; n++) {
    const before = clock.ticks()
    const found = await answered(
      () => ask({ ...options, timeoutMs: attemptMs(options, leftMs) }),
      leftMs <= 0,
    )
    if (found && (found.status !== 'created' || leftMs <= 0)) return found
    const pauseMs = Math.max(0, Math.min(PAUSES[n] ?? 5_000, leftMs))
    await pause(pauseMs, options.signal)
    leftMs -= Math.max(pauseMs, clock.ticks() - before)
  }
}

const attemptMs = ({ timeoutMs = 60_000 }: CallOptions, leftMs: number): number =>
  Math.min(timeoutMs, Math.max(leftMs, LEAST_MS))

/** Nothing where no answer came, unless this was the last time that it was asked. */
async function answered<T>(ask: () => Promise<T>, isLast: boolean): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isLast || !(error instanceof NoAnswer)) throw error
    return undefined
  }
}

type Method = (...given: readonly unknown[]) => unknown
type Verbs = Readonly<Record<string, Method>>

/** Verbs that are no operation, made of those of their noun. */
const ownVerbs: Readonly<Record<string, (verbs: Verbs) => Verbs>> = {
  intents: ({ get }) => ({
    wait: (id, options) =>
      untilDecided(
        (own: CallOptions) => get?.(id, own) as Promise<{ status: string }>,
        options as WaitOptions | undefined,
      ),
  }),
}

/** The verbs of a noun, with those that are made of them. */
export const withOwnVerbs = (noun: string, verbs: Verbs): Verbs => ({ ...verbs, ...ownVerbs[noun]?.(verbs) })
