import type { Logger } from '../platform/log.ts'
import { clock } from '../values/clock.ts'

/** On days without new rates, every payment in another currency finds old ones. */
const AGAIN_AFTER_MS = 600_000
const AGAIN_AFTER_FAILURE_MS = 60_000

/**
 * Refreshes exchange rates that were found old, beside what found them: payments in other currencies do not wait for the
 * schedule, which does it every working day.
 */
export function refresherOfOldRates(refresh: () => Promise<void>, log: Logger): () => void {
  let nextAt = Number.NEGATIVE_INFINITY
  return () => {
    if (clock.ticks() < nextAt) return
    nextAt = clock.ticks() + AGAIN_AFTER_MS
    refresh().catch((error: unknown) => {
      nextAt = clock.ticks() + AGAIN_AFTER_FAILURE_MS
      log.warn({ err: error }, 'the exchange rates of live mode were not refreshed')
    })
  }
}
