import type { DailySpend } from './days.ts'
import { adapted, FIRST_TAILS, type Tails } from './levels.ts'
import { type Pool, poolBefore } from './pool.ts'
import { predict } from './predict.ts'
import type { Quantiles } from './quantiles.ts'

/** Days ahead for which the outer quantiles are learnt, each apart. */
export const HORIZONS = [1, 7, 14] as const

/** Before so many days no forecast is made by this method. */
export const LEAST_DAYS = 28

/** A forecast made in the past for a day that is known by now. */
export interface PastForecast {
  /** The day before which it was made: the first that was not known. */
  readonly origin: number
  readonly horizon: number
  readonly day: number
  readonly forecast: Quantiles
  readonly actual: number
}

export interface Walk {
  readonly past: readonly PastForecast[]
  /** The pool at the end of the series. */
  readonly pool: Pool
  /** The outer quantiles as they stand at the end of it, one for each of `HORIZONS`. */
  readonly tails: readonly Tails[]
}

/** Goes through the past day by day, as if each were today: nothing that comes later is used. */
export function walkThrough(spend: DailySpend, days: number): Walk {
  const { firstDay, cents } = spend
  const end = firstDay + cents.length
  const tails: Tails[] = HORIZONS.map(() => FIRST_TAILS)
  const past: PastForecast[] = []
  const due = new Map<number, PastForecast[]>()
  for (let origin = Math.max(firstDay + LEAST_DAYS, end - days); origin < end; origin++) {
    const pool = poolBefore(origin, spend)
    for (const [n, horizon] of HORIZONS.entries()) {
      const day = origin + horizon - 1
      if (day >= end) continue
      const forecast = predict(pool, day, tails[n] as Tails)
      const made = { origin, horizon, day, forecast, actual: cents[day - firstDay] as number }
      past.push(made)
      due.set(day, [...(due.get(day) ?? []), made])
    }
    // The day passes: each forecast that was made for it is judged.
    for (const { horizon, forecast, actual } of due.get(origin) ?? []) {
      const n = HORIZONS.indexOf(horizon as (typeof HORIZONS)[number])
      tails[n] = adapted(tails[n] as Tails, forecast, actual)
    }
    due.delete(origin)
  }
  return { past, pool: poolBefore(end, spend), tails }
}

/** The learnt outer quantiles for a day that lies so many days ahead. */
export function tailsFor(tails: readonly Tails[], ahead: number): Tails {
  const nearest = HORIZONS.reduce((best, horizon) =>
    Math.abs(horizon - ahead) < Math.abs(best - ahead) ? horizon : best,
  )
  return tails[HORIZONS.indexOf(nearest)] ?? FIRST_TAILS
}
