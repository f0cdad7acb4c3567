import { inSlices } from '../../kernel/contract/time-slices.ts'
import { boundedCache } from '../../values/bounded-cache.ts'
import { type Backtest, backtestOf } from './method/backtest.ts'
import { type Course, drawCourses, drawFromFew } from './method/courses.ts'
import { type DailySpend, dateOfDay } from './method/days.ts'
import { type Expectation, levelErrorsOf } from './method/level-errors.ts'
import type { Tails } from './method/levels.ts'
import type { Pool } from './method/pool.ts'
import { predict } from './method/predict.ts'
import { type Quantiles, quantilesOf } from './method/quantiles.ts'
import { LEAST_DAYS, tailsFor, walkThrough } from './method/walk.ts'

/** Before so many days nothing is foretold: a week has not been seen once. */
const LEAST_FOR_ANYTHING = 7

/** By what a forecast is made: the whole method, the little there is, or nothing. */
export const methods = ['pool', 'little', 'none'] as const

/** The most days that are foretold. */
export const MOST_DAYS = 90

export interface Outlook {
  readonly method: (typeof methods)[number]
  readonly days: readonly (Quantiles & { readonly date: string })[]
  /** Ways in which so many days may go, for what depends on their sums. */
  readonly draw: (days: number) => Course[]
  readonly backtest: Backtest | undefined
}

interface Learnt {
  readonly pool: Pool
  readonly tails: readonly Tails[]
  readonly expectations: readonly Expectation[]
  readonly backtest: Backtest | undefined
}

/** What a past teaches. It is learnt once: the past is the same until the next day, and its text is the key. */
const learntFrom = boundedCache(async (text: string): Promise<Learnt> => {
  const spend: DailySpend = JSON.parse(text)
  const { past, pool, tails, expectations } = await inSlices(walkThrough(spend))
  return { pool, tails, expectations, backtest: backtestOf(spend, past) }
}, 500)

/** What the days after a past may cost. The same past and seed give the same. */
export async function outlookOf(spend: DailySpend, count: number, seed: string): Promise<Outlook> {
  const known = spend.cents.length
  if (known < LEAST_FOR_ANYTHING) return { method: 'none', days: [], draw: () => [], backtest: undefined }
  return known < LEAST_DAYS ? outlookOfFew(spend, count, seed) : outlookOfMany(spend, count, seed)
}

const datesAfter = ({ firstDay, cents }: DailySpend, count: number): string[] =>
  Array.from({ length: count }, (_, n) => dateOfDay(firstDay + cents.length + n))

/** With so little known every day is told alike, as wide as the few days lie apart. */
function outlookOfFew(spend: DailySpend, count: number, seed: string): Outlook {
  const draw = (days: number) => drawFromFew(spend.cents, days, seed)
  const everyDay = quantilesOf(draw(1).map(([first = 0]) => first))
  const days = datesAfter(spend, count).map(date => ({ date, ...everyDay }))
  return { method: 'little', days, draw, backtest: undefined }
}

async function outlookOfMany(spend: DailySpend, count: number, seed: string): Promise<Outlook> {
  const { pool, tails, expectations, backtest } = await learntFrom(JSON.stringify(spend))
  const end = spend.firstDay + spend.cents.length
  const days = datesAfter(spend, count).map((date, n) => ({
    date,
    ...predict(pool, end + n, tailsFor(tails, n + 1)),
  }))
  const draw = (many: number) => drawCourses(pool, levelErrorsOf(spend, expectations, many), many, seed)
  return { method: 'pool', days, draw, backtest }
}
