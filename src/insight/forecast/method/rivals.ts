import type { DailySpend } from './days.ts'
import { type DrawnPool, POOL_DAYS } from './pool.ts'
import { LEVELS, type Quantiles, quantileOf, quantilesOf } from './quantiles.ts'

const SAME_WEEKDAYS = 8

/** "As yesterday": the last day, with the errors that this forecast made at the same distance. */
export function naiveForecast({ firstDay, cents }: DailySpend, origin: number, horizon: number): Quantiles {
  const end = origin - firstDay
  const last = cents[end - 1] ?? 0
  const from = Math.max(horizon, end - POOL_DAYS)
  const errors = new Float64Array(Math.max(0, end - from))
  for (let n = from; n < end; n++) errors[n - from] = (cents[n] as number) - (cents[n - horizon] as number)
  errors.sort()
  return {
    p10: Math.max(0, last + Math.min(0, quantileOf(errors, LEVELS.p10))),
    p50: last,
    p90: last + Math.max(0, quantileOf(errors, LEVELS.p90)),
  }
}

/** The honest rival: the quantiles of the last eight same weekdays. */
export function sameWeekdayForecast(
  { firstDay, cents }: DailySpend,
  origin: number,
  horizon: number,
): Quantiles {
  const same: number[] = []
  const target = origin + horizon - 1 - firstDay
  for (let n = target - 7; n >= 0 && same.length < SAME_WEEKDAYS; n -= 7)
    if (n < origin - firstDay) same.push(cents[n] as number)
  return quantilesOf(same)
}

const EVEN_SHARES: readonly number[] = Array<number>(7).fill(1)

/** The days on which the rival rests before a day, as a pool to draw from: they stay as they are. */
export function recentPool({ firstDay, cents }: DailySpend, end: number): DrawnPool {
  const from = Math.max(firstDay, end - 7 * SAME_WEEKDAYS)
  const values = Float64Array.from(cents.slice(from - firstDay, end - firstDay))
  return { shares: EVEN_SHARES, values, firstDay: from }
}
