import { after, days } from '../../values/clock.ts'
import type { Health } from './delivery-rows.ts'

/** So many rounds may fail before a receiver is left alone for a while; then longer and longer. */
const PATIENCE = 3
const FIRST_PAUSE_MS = 10_000
const LONGEST_PAUSE_MS = 15 * 60_000

/** A receiver that has not taken anything for so long, however often it was tried, is given up. */
const GIVEN_UP_AFTER_MS = days(5)
const GIVEN_UP_AFTER_ROUNDS = 10

/** One success makes it well; failures of one round count once, however many they are. */
export function note(health: Health, succeeded: boolean, now: Date): void {
  if (succeeded) {
    Object.assign(health, { failures: 0, failingSince: null, pausedUntil: null })
    return
  }
  health.failures++
  health.failingSince ??= now
  health.pausedUntil = health.failures < PATIENCE ? null : after(now, pauseAfter(health.failures))
}

const pauseAfter = (failures: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - PATIENCE, 20))

export const isHopeless = ({ failures, failingSince }: Health, now: Date): boolean =>
  failures >= GIVEN_UP_AFTER_ROUNDS && failingSince !== null && after(failingSince, GIVEN_UP_AFTER_MS) <= now

export const conditions = ['well', 'failing', 'paused'] as const

/** The same in words. */
export function shownHealth(health: Omit<Health, 'id'>, { now, aheadMs }: { now: Date; aheadMs: number }) {
  const { failures } = health
  const told = (at: Date | null) => at && after(at, aheadMs)
  const [failingSince, pausedUntil] = [told(health.failingSince), told(health.pausedUntil)]
  if (failures === 0 || !failingSince)
    return {
      condition: 'well',
      failingSince: null,
      pausedUntil: null,
      message: 'Deliveries are taken.',
    } as const
  const since = `None has been taken since ${failingSince.toISOString()}.`
  if (!pausedUntil || pausedUntil <= after(now, aheadMs))
    return { condition: 'failing', failingSince, pausedUntil: null, message: since } as const
  const message = `${since} The next is tried after ${pausedUntil.toISOString()}; once one is taken, those that wait follow. POST /webhooks/{id}/test tries at once.`
  return { condition: 'paused', failingSince, pausedUntil, message } as const
}
