const DAY_MS = 86_400_000

/** What was spent on each day of a span without gaps, in cents, the oldest day first. Days are counted from 1970. */
export interface DailySpend {
  readonly firstDay: number
  readonly cents: readonly number[]
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

/** The same series with this many of its first days only. */
export const firstDays = ({ firstDay, cents }: DailySpend, count: number): DailySpend => ({
  firstDay,
  cents: cents.slice(0, count),
})
