import type { Io } from '../io.ts'
import { NoAnswer, type Reply } from './send.ts'

/** A broken connection is tried again after these times, in milliseconds: about as long as a service starts anew. */
const PAUSES = [200, 500, 1_000, 2_000, 4_000, 8_000]
/** How often an answer that says "later" is waited out. */
const MOST_WAITS = 20
const LONGEST_WAIT_S = 120

export interface Repetition {
  /** Whether a second sending has no second effect. */
  readonly isRepeatable: boolean
  /** Told to people while they wait. */
  onWait(sentence: string): void
  wait: Io['wait']
}

/**
 * Sends a request until there is an answer to it. What did not leave the machine is sent again after a connection has
 * broken; at the first attempt it says at once that nothing is there. What may have had its effect is sent again only
 * where a second sending has none.
 */
export async function untilAnswered(
  attempt: () => Promise<Reply>,
  { isRepeatable, onWait, wait }: Repetition,
): Promise<Reply> {
  let [broken, waited] = [0, 0]
  for (;;) {
    try {
      const reply = await attempt()
      const seconds = waited < MOST_WAITS ? secondsToWait(reply, isRepeatable) : undefined
      if (seconds === undefined) return reply
      waited += 1
      onWait(`The service asks to wait ${seconds} s (${reply.headers.get('x-error-code') ?? reply.status}).`)
      await drained(reply)
      await wait(seconds * 1_000)
    } catch (error) {
      const pause = PAUSES[broken]
      const mayAgain = error instanceof NoAnswer && (error.wasSent ? isRepeatable : broken > 0)
      if (!mayAgain || pause === undefined) throw error
      broken += 1
      onWait(`${error.message}: the same call is sent again.`)
      await wait(pause)
    }
  }
}

/** Before anything was done, and before the outcome is known: only what may be repeated is sent again. */
const UNDECIDED = new Set(['in_progress', 'busy', 'overloaded', 'outcome_unknown', 'unavailable'])

function secondsToWait({ status, headers }: Reply, isRepeatable: boolean): number | undefined {
  const asked = Number(headers.get('retry-after') ?? 1)
  const seconds = Math.max(1, Math.ceil(asked))
  if (!(seconds <= LONGEST_WAIT_S)) return undefined
  if (status === 429 && headers.get('retry-after') !== null) return seconds
  return isRepeatable && UNDECIDED.has(headers.get('x-error-code') ?? '') ? seconds : undefined
}

async function drained({ content }: Reply): Promise<void> {
  for await (const _ of content);
}
