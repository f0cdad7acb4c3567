import { weekdayOf } from './days.ts'
import type { Pool } from './pool.ts'
import { randomOf } from './random.ts'

/** How many courses are drawn. */
export const COURSES = 600
/** The longest stretch of the past that a course follows; a longer one follows several, one after the other. */
const LONGEST_STRETCH = 30
const SHORTEST_STRETCH = 7

/** One way in which the days ahead may go: what is spent on each, in cents. */
export type Course = Float64Array

/**
 * Draws courses of the days ahead. Each goes as some stretch of the past went that began on the same weekday, as multiples
 * of the level at its beginning: a burst stays a burst, and a level that rose within a stretch rises again. The same seed
 * draws the same.
 */
export function drawCourses(pool: Pool, days: number, seed: string): Course[] {
  const { plain, levelRatios, shares, firstDay } = pool
  const random = randomOf(seed)
  const end = firstDay + plain.length
  const length = stretchOf(plain.length)
  const blocks = Array.from({ length: Math.ceil(days / length) }, (_, block) => ({
    first: block * length,
    starts: startsOn(pool, weekdayOf(end + block * length), length),
  }))
  const drawOne = (): Course => {
    const course = new Float64Array(days)
    for (const { first, starts } of blocks) {
      const start = starts[Math.floor(random() * starts.length)] ?? 0
      const ratio = levelRatios[start] ?? 1
      for (let n = first; n < Math.min(days, first + length); n++)
        course[n] = (plain[start + n - first] ?? 0) * ratio * (shares[weekdayOf(end + n)] as number)
    }
    return course
  }
  return Array.from({ length: COURSES }, drawOne)
}

/** With little history stretches are short, so that there are several to draw from. */
const stretchOf = (known: number): number =>
  Math.max(SHORTEST_STRETCH, Math.min(LONGEST_STRETCH, Math.floor(known / 3)))

/** Places in the pool at which a whole stretch begins on a weekday. */
function startsOn({ plain, firstDay }: Pool, weekday: number, length: number): number[] {
  const starts: number[] = []
  const first = (weekday - weekdayOf(firstDay) + 7) % 7
  for (let n = first; n + length <= plain.length; n += 7) starts.push(n)
  return starts
}

/** What each course comes to in its first days, in cents. */
export const totalsOf = (courses: readonly Course[], days: number): number[] =>
  courses.map(course => course.subarray(0, days).reduce((sum, spent) => sum + spent, 0))
