import { boundedCache } from '../../values/bounded-cache.ts'
import { type Backtest, backtestOf, MOST_ORIGINS } from './method/backtest.ts'
import { type Course, drawCourses } from './method/courses.ts'
import { type DailySpend, dateOfDay } from './method/days.ts'
import type { Tails } from './method/levels.ts'
import { littleCourses, littleQuantiles } from './method/little.ts'
import type { Pool } from './method/pool.ts'
import { predict } from './method/predict.ts'
import type { Quantiles } from './method/quantiles.ts'
import { LEAST_DAYS, tailsFor, type Walk, walkThrough } from './method/walk.ts'

/** Before so many days nothing is foretold: a week has not been seen once. */
const LEAST_FOR_ANYTHING = 7
/** The outer quantiles are learnt for some time before they are judged. */
const LEARNING_DAYS = 30

/** By what a forecast is made: the whole method, the little there is, or nothing. */
export const methods = ['pool', 'little', 'none'] as const

/** The most days that are foretold. */
export const MOST_DAYS = 90

export interface Outlook {
  readonly method: (typeof methods)[number]
  readonly days: readonly (Quantiles & { readonly date: string })[]
  /** Ways in which the days may go, for what depends on their sums. */
  readonly courses: readonly Course[]
  readonly backtest: Backtest | undefined
}

interface Learnt {
  readonly pool: Pool
  readonly tails: readonly Tails[]
  readonly backtest: Backtest | undefined
}

/** What a past teaches. It is learnt once: the past of a day is the same until the next day, and its text is the key. */
const learntFrom = boundedCache((past: string): Learnt => {
  const spend: DailySpend = JSON.parse(past)
  const { past: made, pool, tails }: Walk = walkThrough(spend, MOST_ORIGINS + LEARNING_DAYS)
  return { pool, tails, backtest: backtestOf(spend, made) }
}, 500)

/** What the days after a past may cost. The same past and seed give the same. */
export function outlookOf(spend: DailySpend, count: number, seed: string): Outlook {
  const known = spend.cents.length
  if (known < LEAST_FOR_ANYTHING) return { method: 'none', days: [], courses: [], backtest: undefined }
  const end = spend.firstDay + known
  const dates = Array.from({ length: count }, (_, n) => dateOfDay(end + n))
  if (known < LEAST_DAYS) {
    const everyDay = littleQuantiles(spend)
    const days = dates.map(date => ({ date, ...everyDay }))
    return { method: 'little', days, courses: littleCourses(spend, count), backtest: undefined }
  }
  const { pool, tails, backtest } = learntFrom(JSON.stringify(spend))
  const days = dates.map((date, n) => ({ date, ...predict(pool, end + n, tailsFor(tails, n + 1)) }))
  return { method: 'pool', days, courses: drawCourses(pool, count, seed), backtest }
}
