import { type Course, drawCourses } from './courses.ts'
import type { DailySpend } from './days.ts'
import { expectationOf, levelErrorsOf } from './level-errors.ts'
import { recentPool } from './rivals.ts'
import { LEAST_DAYS, type Walk } from './walk.ts'

/** Courses of the days after those that were walked through, without what subscriptions will cost. */
export const drawAhead = (
  { pool, rest, expectations }: Omit<Walk, 'past'>,
  days: number,
  seed: string,
): Course[] => drawCourses(pool, levelErrorsOf(rest, expectations, days), days, seed)

/** The same where the rival is used: from the weeks that it knows, each as much too high or too low as these have been. */
export function drawFromSameWeekdays(rest: DailySpend, days: number, seed: string): Course[] {
  const { firstDay, cents } = rest
  const end = firstDay + cents.length
  const expectations = cents
    .slice(LEAST_DAYS)
    .map((_, n) => firstDay + LEAST_DAYS + n)
    .map(origin => expectationOf(recentPool(rest, origin), origin))
  return drawCourses(recentPool(rest, end), levelErrorsOf(rest, expectations, days), days, seed)
}
