import type { Sliced } from '../../../kernel/contract/time-slices.ts'
import { type DailySpend, weekdayOf } from './days.ts'
import { type Expectation, expectationOf } from './level-errors.ts'
import { type Pool, poolBefore, weighted } from './pool.ts'
import { LEVELS, type Quantiles, raisedBy, weightedQuantiles } from './quantiles.ts'
import { sameWeekdayForecast } from './rivals.ts'
import { withoutSubscriptions } from './subscriptions.ts'

/** The parts of the pool that are to lie below the first and above the last quantile, as they have proved right. */
interface Tails {
  readonly below: number
  readonly above: number
}

const FIRST_TAILS: Tails = { below: 0.1, above: 0.1 }

/** How far a day moves them. */
const STEP = 0.01
const AIM = 0.1
const LEAST = 0.02
/** With many zeros nothing is ever below: the first quantile stops here. */
const MOST_BELOW = 0.25
const MOST_ABOVE = 0.3

const within = (most: number, value: number): number => Math.min(most, Math.max(LEAST, value))

/**
 * Moves the outer quantiles by whether they held (adaptive conformal inference): one that is missed goes a good deal
 * outwards, one that holds a little inwards, so that in the long run each is missed on one day of ten.
 */
const adapted = ({ below, above }: Tails, { p10, p90 }: Quantiles, actual: number): Tails => ({
  below: within(MOST_BELOW, below + STEP * (AIM - Number(actual < p10))),
  above: within(MOST_ABOVE, above + STEP * (AIM - Number(actual > p90))),
})

/**
 * The forecast of a day: the weighted quantiles of the pool, times the share of the day's weekday, which are weighed once. The tails
 * were learnt on working days: a day of rest has those that are meant.
 */
export function predictorOf(pool: Pool): (day: number, tails: Tails) => Quantiles {
  const known = new Map<number, ReturnType<typeof weighted>>()
  return (day, tails) => {
    const weekday = weekdayOf(day)
    const { ascending, weights } = known.get(weekday) ?? weighted(pool, day)
    known.set(weekday, { ascending, weights })
    const share = pool.shares[weekday] as number
    const { below, above } = pool.resting[weekday] ? FIRST_TAILS : tails
    const levels = [below, LEVELS.p50, 1 - above]
    const [p10 = 0, p50 = 0, p90 = 0] = weightedQuantiles(ascending, weights, levels)
    return { p10: p10 * share, p50: p50 * share, p90: p90 * share }
  }
}

/** Days ahead for which the outer quantiles are learnt, each apart. */
const HORIZONS: readonly number[] = [1, 7, 14]

/** Before so many days no forecast is made by this method. */
export const LEAST_DAYS = 28

/** A forecast made in the past for a day that is known by now. */
export interface PastForecast {
  /** The day before which it was made: the first that was not known. */
  readonly origin: number
  readonly horizon: number
  readonly day: number
  readonly forecast: Quantiles
  /** What the rival foretold of the same day; it knows the subscriptions, too. */
  readonly rival: Quantiles
  readonly actual: number
}

export interface Walk {
  readonly past: readonly PastForecast[]
  readonly expectations: readonly Expectation[]
  /** The pool at the end of the series. */
  readonly pool: Pool
  /** The outer quantiles as they stand at the end of it, one for each of `HORIZONS`. */
  readonly tails: readonly Tails[]
  /** The series without the subscriptions that are known at the end of it: of these days the pool is made. */
  readonly rest: DailySpend
}

/** Goes through the past day by day, as if each were today: nothing that comes later is used. */
export function* walkThrough(spend: DailySpend): Sliced<Walk> {
  const { firstDay, cents } = spend
  const end = firstDay + cents.length
  const known = withoutSubscriptions(spend)
  const tails: Tails[] = HORIZONS.map(() => FIRST_TAILS)
  const past: PastForecast[] = []
  const expectations: Expectation[] = []
  const due = new Map<number, PastForecast[]>()
  let pool: Pool | undefined
  for (let origin = firstDay + LEAST_DAYS; origin < end; origin++) {
    const before = known.before(origin)
    pool = poolBefore(origin, before, pool)
    const predict = predictorOf(pool)
    expectations.push(expectationOf(pool, origin))
    for (const [n, horizon] of HORIZONS.entries()) {
      const day = origin + horizon - 1
      if (day >= end) continue
      const expected = known.expectedOn(day, origin)
      const forecast = raisedBy(expected, predict(day, tails[n] as Tails))
      const rival = raisedBy(expected, sameWeekdayForecast(before, origin, horizon))
      const made = { origin, horizon, day, forecast, rival, actual: cents[day - firstDay] as number }
      past.push(made)
      // On a day of rest quantiles hold by themselves: that teaches nothing of the others.
      if (!pool.resting[weekdayOf(day)]) due.set(day, [...(due.get(day) ?? []), made])
    }
    // The day passes: each forecast that was made for it is judged.
    for (const { horizon, forecast, actual } of due.get(origin) ?? []) {
      const n = placeOf(horizon)
      tails[n] = adapted(tails[n] as Tails, forecast, actual)
    }
    due.delete(origin)
    yield
  }
  const rest = known.before(end)
  return { past, expectations, pool: poolBefore(end, rest, pool), tails, rest }
}

const placeOf = (horizon: number): number => HORIZONS.indexOf(horizon)

/** The learnt outer quantiles for a day that lies so many days ahead. */
export function tailsFor(tails: readonly Tails[], ahead: number): Tails {
  const nearest = HORIZONS.toSorted((a, b) => Math.abs(a - ahead) - Math.abs(b - ahead))[0] ?? 1
  return tails[placeOf(nearest)] ?? FIRST_TAILS
}
