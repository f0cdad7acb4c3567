import { days } from '../../values/clock.ts'
import { dayNumberAt, lastDayOfMonth, weekdayOf } from './method/days.ts'

/** So long after its last payment an agent is looked at each day; after that each Monday, which keeps a year of rest cheap. */
const RESTS_AFTER_DAYS = 4
const MONDAY = 1

const startOf = (day: number): Date => new Date(days(day))

export const dayAfter = (now: Date): Date => startOf(dayNumberAt(now) + 1)

const daysSince = (now: Date, lastSpendAt: Date | null): number =>
  lastSpendAt ? dayNumberAt(now) - dayNumberAt(lastSpendAt) : Number.POSITIVE_INFINITY

/** Whether it has paid since the look before this one at the latest. */
export const hasSpentLately = (now: Date, lastSpendAt: Date | null): boolean =>
  daysSince(now, lastSpendAt) <= 7

/** When an agent is looked at next, at the beginning of a day: once its owner was told, in the next month. */
export function nextLook(now: Date, lastSpendAt: Date | null, isTold: boolean): Date {
  const today = dayNumberAt(now)
  if (isTold) return startOf(lastDayOfMonth(today) + 1)
  const toMonday = (MONDAY - weekdayOf(today) + 7) % 7 || 7
  return startOf(today + (daysSince(now, lastSpendAt) < RESTS_AFTER_DAYS ? 1 : toMonday))
}
