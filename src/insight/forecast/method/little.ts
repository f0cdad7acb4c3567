import type { Course } from './courses.ts'
import type { DailySpend } from './days.ts'
import type { Quantiles } from './quantiles.ts'
import { quantileOf } from './quantiles.ts'

/** With so little known a forecast is wide: the least and the most that a day has cost so far, and the middle. */
export function littleQuantiles({ cents }: DailySpend): Quantiles {
  const ascending = cents.toSorted((one, other) => one - other)
  return { p10: ascending[0] ?? 0, p50: quantileOf(ascending, 0.5), p90: ascending.at(-1) ?? 0 }
}

/** Courses of which each goes on every day as one of the known days went: the widest that can be said of a sum. */
export const littleCourses = ({ cents }: DailySpend, days: number): Course[] =>
  cents.map(spent => new Float64Array(days).fill(spent))
