import { type Course, drawCourses } from './courses.ts'
import { levelErrorsOf } from './level-errors.ts'
import type { Walk } from './walk.ts'

/** Courses of the days after those that were walked through, without what subscriptions will cost. */
export const drawAhead = (
  { pool, rest, expectations }: Omit<Walk, 'past'>,
  days: number,
  seed: string,
): Course[] => drawCourses(pool, levelErrorsOf(rest, expectations, days), days, seed)
