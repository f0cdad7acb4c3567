import { clock } from '../../values/system-clock.ts'
import { checkOptions, waitOptions } from './known-options.ts'
import type { CallOptions, Settings, WaitOptions } from './options.ts'
import { pause } from './send.ts'
import { isTemporary } from './stream.ts'

/** In milliseconds; the last one repeats, and suits the rate limit of several concurrent waits. */
const PAUSES = [500, 1_000, 2_000, 3_000, 5_000]
const WITHIN_MS = 600_000
const LEAST_MS = 1_000

interface WaitedFor {
  readonly status: string
}

/**
 * Polls until the record has left these statuses, and returns it; after the time limit, as it is. Unanswered
 * attempts, as during a restart, do not end the wait. The next poll repeats them: retries of the call itself
 * would outlast the time limit.
 */
async function whileIn<T extends WaitedFor>(
  statuses: readonly string[],
  ask: (options: CallOptions) => Promise<T>,
  { withinMs = WITHIN_MS, ...options }: WaitOptions & { readonly timeoutMs: number },
): Promise<T> {
  let leftMs = withinMs
  for (let n = 0; ; n++) {
    const before = clock.ticks()
    const found = await answered(
      () => ask({ ...options, retries: 0, timeoutMs: attemptMs(options.timeoutMs, leftMs) }),
      leftMs <= 0,
    )
    if (found && (!statuses.includes(found.status) || leftMs <= 0)) return found
    const pauseMs = Math.max(0, Math.min(PAUSES[n] ?? 5_000, leftMs))
    await pause(pauseMs, options.signal)
    leftMs -= Math.max(pauseMs, clock.ticks() - before)
  }
}

const attemptMs = (timeoutMs: number, leftMs: number): number =>
  Math.min(timeoutMs, Math.max(leftMs, LEAST_MS))

async function answered<T>(ask: () => Promise<T>, isLast: boolean): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isLast || !isTemporary(error)) throw error
    return undefined
  }
}

type Method = (...given: readonly unknown[]) => unknown
type Verbs = Readonly<Record<string, Method>>

/** The client's own `timeoutMs` is for each attempt. */
type Client = Pick<Settings, 'timeoutMs'>

const waitBy = (
  noun: string,
  read: Method | undefined,
  statuses: readonly string[],
  client: Client,
): Verbs => ({
  async wait(id, given) {
    checkOptions(`pay.${noun}.wait`, given, waitOptions)
    const options = given as WaitOptions | undefined
    const ask = (own: CallOptions) => read?.(id, own) as Promise<WaitedFor>
    return whileIn(statuses, ask, { ...options, timeoutMs: options?.timeoutMs ?? client.timeoutMs })
  },
})

const ownVerbs: Readonly<Record<string, (verbs: Verbs, client: Client) => Verbs>> = {
  intents: ({ get }, client) => waitBy('intents', get, ['created'], client),
  mpp: ({ payment }, client) => waitBy('mpp', payment, ['waiting', 'ordering', 'sent'], client),
}

export const withOwnVerbs = (noun: string, verbs: Verbs, client: Client): Verbs => ({
  ...verbs,
  ...ownVerbs[noun]?.(verbs, client),
})
