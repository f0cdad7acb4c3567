import type { Course } from './method/courses.ts'
import { dateOfDay, lastDayOfMonth } from './method/days.ts'
import { LEVELS, quantileNames } from './method/quantiles.ts'

/** The days on which something is used up: in one of ten courses by the first, in half by the second, in nine by the third. */
export interface RunsOut {
  readonly p10: string | null
  readonly p50: string | null
  readonly p90: string | null
}

const NEVER = Number.POSITIVE_INFINITY

/** The place of the day on which what is spent reaches the amount. */
function dayOf(course: Course, cents: number, days: number): number {
  let spent = 0
  for (let n = 0; n < Math.min(days, course.length); n++) {
    spent += course[n] as number
    if (spent >= cents) return n
  }
  return NEVER
}

/** When the amount is used up, where the courses begin on the day `first`; only their first `days` count. */
export function runsOut(courses: readonly Course[], cents: number, first: number, days: number): RunsOut {
  const places = courses.map(course => dayOf(course, cents, days)).sort((one, other) => one - other)
  const at = (level: number): string | null => {
    const place = places[Math.max(0, Math.ceil(places.length * level) - 1)] ?? NEVER
    return place === NEVER ? null : dateOfDay(first + place)
  }
  const [p10, p50, p90] = quantileNames.map(name => at(LEVELS[name]))
  return { p10: p10 ?? null, p50: p50 ?? null, p90: p90 ?? null }
}

/** How many days the month has from this one on, this one included. */
export const daysLeftInMonth = (day: number): number => lastDayOfMonth(day) - day + 1
