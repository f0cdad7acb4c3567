import { addMs, backoffDelay, days } from '../../values/clock.ts'
import type { WebhookHealth } from './delivery.ts'

/** After this many failed rounds a receiver is paused, for longer with each further one. */
const ROUNDS_BEFORE_PAUSE = 3
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 15 * 60_000

/** A receiver without a success for this time and this many rounds is disabled. */
const GIVEN_UP_AFTER_MS = days(5)
const GIVEN_UP_AFTER_ROUNDS = 10

/** Counts a round of attempts: a success clears all failures, and a failed round counts once. */
export function recordAttemptRound(health: WebhookHealth, succeeded: boolean, now: Date): void {
  if (succeeded) {
    Object.assign(health, { failures: 0, failingSince: null, pausedUntil: null })
    return
  }
  health.failures++
  health.failingSince ??= now
  health.pausedUntil = health.failures < ROUNDS_BEFORE_PAUSE ? null : addMs(now, pauseAfter(health.failures))
}

const pauseAfter = (failures: number): number =>
  backoffDelay(FIRST_PAUSE_MS, failures - ROUNDS_BEFORE_PAUSE, LONGEST_PAUSE_MS)

export const shouldDisableWebhook = ({ failures, failingSince }: WebhookHealth, now: Date): boolean =>
  failures >= GIVEN_UP_AFTER_ROUNDS && failingSince !== null && addMs(failingSince, GIVEN_UP_AFTER_MS) <= now

export const webhookConditions = ['well', 'failing', 'paused'] as const

export function webhookHealthResponse(
  health: Omit<WebhookHealth, 'id'>,
  { now, aheadMs }: { now: Date; aheadMs: number },
) {
  const { failures } = health
  const byTenantClock = (at: Date | null) => at && addMs(at, aheadMs)
  const failingSince = byTenantClock(health.failingSince)
  const pausedUntil = byTenantClock(health.pausedUntil)
  if (failures === 0 || !failingSince)
    return {
      condition: 'well',
      failingSince: null,
      pausedUntil: null,
      message: 'Deliveries succeed.',
    } as const
  const since = `Deliveries have failed since ${failingSince.toISOString()}.`
  if (!pausedUntil || pausedUntil <= addMs(now, aheadMs))
    return { condition: 'failing', failingSince, pausedUntil: null, message: since } as const
  const message = `${since} The next is tried after ${pausedUntil.toISOString()}; once it succeeds, the waiting ones follow. POST /webhooks/{id}/test tries at once.`
  return { condition: 'paused', failingSince, pausedUntil, message } as const
}
