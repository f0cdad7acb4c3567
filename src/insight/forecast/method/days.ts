const DAY_MS = 86_400_000

export interface SubscriptionCharges {
  readonly every: 'week' | 'month'
  readonly days: readonly number[]
  readonly cents: readonly number[]
  /** The first payment after the series, which came outside of its time; null if there was none. */
  readonly brokenOn: number | null
}

/** Cents on each day of a span without gaps, the oldest first. Days are counted from 1970. */
export interface DailySpend {
  readonly firstDay: number
  readonly cents: readonly number[]
  readonly subscriptions?: readonly SubscriptionCharges[]
}

export const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00.000Z`) / DAY_MS

export const dayNumberAt = (at: Date): number => Math.floor(at.getTime() / DAY_MS)

export const dateOfDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

export const weekdayOf = (day: number): number => (day + 4) % 7

export function lastDayOfMonth(day: number): number {
  const at = new Date(day * DAY_MS)
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 0) / DAY_MS
}
