const DAY_MS = 86_400_000

/** Charges of a merchant that followed each other by a week or a month, on days counted from 1970. */
export interface Subscription {
  readonly every: 'week' | 'month'
  readonly days: readonly number[]
  readonly cents: readonly number[]
  /** The first payment after it, which did not come in its time; null: there was none. */
  readonly brokenOn: number | null
}

/** What was spent on each day of a span without gaps, in cents, the oldest day first. Days are counted from 1970. */
export interface DailySpend {
  readonly firstDay: number
  readonly cents: readonly number[]
  /** What of it is known to come again. */
  readonly subscriptions?: readonly Subscription[]
}

/** The number of a day, `2026-03-01`, counted from 1970. */
export const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00.000Z`) / DAY_MS

export const dayNumberAt = (at: Date): number => Math.floor(at.getTime() / DAY_MS)

export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** 0 is Sunday: the first day of 1970 was a Thursday. */
export const weekdayOf = (day: number): number => (day + 4) % 7

/** The last day of the month to which a day belongs. */
export function lastDayOfMonth(day: number): number {
  const at = new Date(day * DAY_MS)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0) / DAY_MS
}
