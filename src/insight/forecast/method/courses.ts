import { createHash } from 'node:crypto'
import { type DailySpend, weekdayOf } from './days.ts'
import { expectationOf, type LevelErrors, levelErrorsOf } from './level-errors.ts'
import { ageWeight, type DrawnPool } from './pool.ts'
import { recentPool } from './rivals.ts'
import { LEAST_DAYS, type Walk } from './walk.ts'

/** Numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE()
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The place that a random number from 0 up to 1 hits, by the running sums of the weights; 0 where there are none. */
function drawnPlace(sums: readonly number[], at: number): number {
  const sought = at * (sums.at(-1) ?? 0)
  let [low, high] = [0, Math.max(0, sums.length - 1)]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] as number) > sought) high = middle
    else low = middle + 1
  }
  return low
}

/** How many courses are drawn. */
const COURSES = 600
/** Days that follow each other are drawn together: a burst stays a burst. */
const BLOCK = 7
/** The blocks themselves show a part of the errors of the past: the rest of them is drawn for the whole course. */
const LEVEL_PART = 0.85

/** One way in which the days ahead may go: what is spent on each, in cents. */
export type Course = Float64Array

/**
 * Draws courses of the days ahead, by blocks of days of the pool that begin on the same weekday, younger ones more often;
 * each course is as much too high or too low as the method was at some time in the past. The same seed draws the same.
 */
function drawCourses(pool: DrawnPool, errors: LevelErrors, days: number, seed: string): Course[] {
  const random = randomOf(seed)
  const end = pool.firstDay + pool.values.length
  const blocks = Array.from({ length: 7 }, (_, weekday) => blocksOn(pool, weekday))
  const drawOne = (): Course => {
    const course = new Float64Array(days)
    const level = (errors.ratios[drawnPlace(errors.sums, random())] ?? 1) ** LEVEL_PART
    for (let first = 0; first < days; first += BLOCK) {
      const { places, sums } = blocks[weekdayOf(end + first)] as Blocks
      const start = places[drawnPlace(sums, random())] ?? 0
      for (let n = first; n < Math.min(days, first + BLOCK); n++) {
        const share = pool.shares[weekdayOf(end + n)] as number
        course[n] = level * share * (pool.values[start + n - first] as number)
      }
    }
    return course
  }
  return Array.from({ length: COURSES }, drawOne)
}

/** Places in the pool at which a block may begin, with the running sums of their weights. */
interface Blocks {
  readonly places: readonly number[]
  readonly sums: readonly number[]
}

function blocksOn({ values, firstDay }: DrawnPool, weekday: number): Blocks {
  const places: number[] = []
  const sums: number[] = []
  let sum = 0
  for (let n = 0; n + BLOCK <= values.length; n++) {
    if (weekdayOf(firstDay + n) !== weekday) continue
    sum += ageWeight(values.length - 1 - n)
    places.push(n)
    sums.push(sum)
  }
  return { places, sums }
}

/**
 * Courses from a few days only, all alike: each knows no more than a quarter of these days, so that the courses lie as far
 * apart as little knowledge demands.
 */
export function drawFromFew(known: readonly number[], days: number, seed: string): Course[] {
  const random = randomOf(seed)
  const any = (of: ArrayLike<number>): number => of[Math.floor(random() * of.length)] ?? 0
  const most = Math.max(2, Math.floor(known.length / 4))
  return Array.from({ length: COURSES }, () => {
    const few = Float64Array.from({ length: most }, () => any(known))
    return Float64Array.from({ length: days }, () => any(few))
  })
}

/** What each course comes to in its first days, in cents. */
export const totalsOf = (courses: readonly Course[], days: number): number[] =>
  courses.map(course => course.subarray(0, days).reduce((sum, spent) => sum + spent, 0))

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
