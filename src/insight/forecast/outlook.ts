import { inSlices } from '../../kernel/contract/time-slices.ts'
import { boundedCache } from '../../values/bounded-cache.ts'
import { type Backtest, backtestOf } from './method/backtest.ts'
import { type Course, drawAhead, drawFromFew, drawFromSameWeekdays } from './method/courses.ts'
import { type DailySpend, dateOfDay, firstDays } from './method/days.ts'
import { type Quantiles, quantilesOf } from './method/quantiles.ts'
import { sameWeekdayForecast } from './method/rivals.ts'
import { withoutSubscriptions } from './method/subscriptions.ts'
import { LEAST_DAYS, predictorOf, tailsFor, type Walk, walkThrough } from './method/walk.ts'

/** Before so many days nothing is foretold: a week has not been seen once. */
const LEAST_FOR_ANYTHING = 7

/** By what a forecast is made: the whole method, its rival where that was better, the little there is, or nothing. */
export const methods = ['pool', 'same_weekdays', 'little', 'none'] as const

/** The most days that are foretold. */
export const MOST_DAYS = 90

export interface Outlook {
  readonly method: (typeof methods)[number]
  /** What is guessed: without the subscriptions that are known. */
  readonly days: readonly (Quantiles & { readonly date: string })[]
  /** Ways in which so many days may go, for what depends on their sums; without what is known, too. */
  readonly draw: (days: number) => Course[]
  readonly backtest: Backtest | undefined
}

interface Learnt {
  readonly walk: Omit<Walk, 'past'>
  readonly backtest: Backtest | undefined
}

/** What a past teaches. It is learnt once: the past is the same until the next day, and its text is the key. */
const learntFrom = boundedCache(async (text: string): Promise<Learnt> => {
  const spend: DailySpend = JSON.parse(text)
  const { past, ...walk } = await inSlices(walkThrough(spend))
  return { walk, backtest: backtestOf(spend, past) }
}, 500)

/** What the days after a past may cost. The same past and seed give the same. */
export async function outlookOf(past: DailySpend, count: number, seed: string): Promise<Outlook> {
  const known = past.cents.length
  if (known < LEAST_FOR_ANYTHING) return { method: 'none', days: [], draw: () => [], backtest: undefined }
  // What was charged today is not in the past yet.
  const spend = firstDays(past, known)
  return known < LEAST_DAYS ? outlookOfFew(spend, count, seed) : outlookOfMany(spend, count, seed)
}

const endOf = ({ firstDay, cents }: DailySpend): number => firstDay + cents.length

const datesAfter = (spend: DailySpend, count: number): string[] =>
  Array.from({ length: count }, (_, n) => dateOfDay(endOf(spend) + n))

/** With so little known every day is told alike, as wide as the few days lie apart. */
function outlookOfFew(spend: DailySpend, count: number, seed: string): Outlook {
  const { cents } = withoutSubscriptions(spend).before(endOf(spend))
  const draw = (days: number) => drawFromFew(cents, days, seed)
  const everyDay = quantilesOf(draw(1).map(([first = 0]) => first))
  const days = datesAfter(spend, count).map(date => ({ date, ...everyDay }))
  return { method: 'little', days, draw, backtest: undefined }
}

async function outlookOfMany(spend: DailySpend, count: number, seed: string): Promise<Outlook> {
  const { walk, backtest } = await learntFrom(JSON.stringify(spend))
  const { pool, tails, rest } = walk
  const method = backtest?.method ?? 'pool'
  const dates = datesAfter(spend, count)
  if (method === 'same_weekdays') {
    const days = dates.map((date, n) => ({ date, ...sameWeekdayForecast(rest, endOf(rest), n + 1) }))
    return { method, days, draw: many => drawFromSameWeekdays(rest, many, seed), backtest }
  }
  const predict = predictorOf(pool)
  const days = dates.map((date, n) => ({ date, ...predict(endOf(spend) + n, tailsFor(tails, n + 1)) }))
  return { method, days, draw: many => drawAhead(walk, many, seed), backtest }
}
