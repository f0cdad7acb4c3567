export class NoAnswer extends Error {
  /** True if the request may have reached the service and taken effect. */
  readonly wasSent: boolean

  constructor(message: string, wasSent: boolean, cause?: unknown) {
    super(message, { cause })
    this.wasSent = wasSent
  }
}

interface Answered {
  readonly status: number
  readonly headers: { get(name: string): string | null }
}

export interface RetryPolicy {
  /** The pauses in milliseconds before each retry after a broken connection. */
  readonly pauses: readonly number[]
  readonly maxWaits: number
  readonly maxWaitSeconds: number
}

/** Lasts about as long as the service takes to restart. */
const DEFAULT_POLICY: RetryPolicy = {
  pauses: [200, 500, 1_000, 2_000, 4_000, 8_000],
  maxWaits: 20,
  maxWaitSeconds: 120,
}

export interface RetryOptions<A> {
  /** Whether sending twice has no second effect. */
  readonly isRepeatable: boolean
  readonly patience?: RetryPolicy
  /** The time that is left for pauses and retries. */
  leftMs?(): number
  onWait?(sentence: string): void
  drain(answer: A): Promise<void>
  wait(milliseconds: number): Promise<void>
}

/**
 * Retries a request until it is answered. After a broken connection, a request that did not leave the machine
 * is sent again; at the first attempt, a missing service is an error at once. A request that may have had its
 * effect is sent again only if sending twice has no second effect.
 */
export async function withRetries<A extends Answered>(
  attempt: () => Promise<A>,
  {
    isRepeatable,
    patience = DEFAULT_POLICY,
    leftMs = () => Number.POSITIVE_INFINITY,
    onWait,
    drain,
    wait,
  }: RetryOptions<A>,
): Promise<A> {
  let [broken, waited] = [0, 0]
  for (;;) {
    try {
      const answer = await attempt()
      const seconds = waited < patience.maxWaits ? secondsToWait(answer, isRepeatable, patience) : undefined
      if (seconds === undefined || seconds * 1_000 >= leftMs()) return answer
      waited += 1
      onWait?.(waitingText(answer, seconds))
      await drain(answer)
      await wait(seconds * 1_000)
    } catch (error) {
      const pause = patience.pauses[broken]
      const mayAgain = error instanceof NoAnswer && (error.wasSent ? isRepeatable : broken > 0)
      if (!mayAgain || pause === undefined || pause >= leftMs()) throw error
      broken += 1
      onWait?.(`${error.message}: the same call is sent again.`)
      await wait(pause)
    }
  }
}

const waitingText = ({ status, headers }: Answered, seconds: number): string => {
  const code = headers.get('x-error-code') ?? (status === 429 ? 'rate_limited' : status)
  return code === 'rate_limited'
    ? `Rate limit reached: waiting ${seconds} s.`
    : `The service asks to wait ${seconds} s (${code}).`
}

/** After these codes nothing was done, or the outcome is unknown, so only a repeatable request is sent again. */
const UNDECIDED = new Set(['in_progress', 'busy', 'overloaded', 'outcome_unknown', 'unavailable'])

function secondsToWait(
  { status, headers }: Answered,
  isRepeatable: boolean,
  { maxWaitSeconds }: RetryPolicy,
): number | undefined {
  if (status < 400) return undefined
  const asked = Number(headers.get('retry-after') ?? 1)
  const seconds = Math.max(1, Math.ceil(asked))
  if (!(seconds <= maxWaitSeconds)) return undefined
  if (status === 429 && headers.get('retry-after') !== null) return seconds
  return isRepeatable && UNDECIDED.has(headers.get('x-error-code') ?? '') ? seconds : undefined
}
