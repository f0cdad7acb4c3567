import type { DailySpend } from './days.ts'
import { interpolateQuantile, QUANTILE_LEVELS, type Quantiles } from './quantiles.ts'

const SAME_WEEKDAYS = 8
const NAIVE_DAYS = 182

export function naiveForecast({ firstDay, cents }: DailySpend, origin: number, horizon: number): Quantiles {
  const end = origin - firstDay
  const last = cents[end - 1] ?? 0
  const from = Math.max(horizon, end - NAIVE_DAYS)
  const errors = new Float64Array(Math.max(0, end - from))
  for (let n = from; n < end; n++) errors[n - from] = (cents[n] as number) - (cents[n - horizon] as number)
  errors.sort()
  return {
    p10: Math.max(0, last + Math.min(0, interpolateQuantile(errors, QUANTILE_LEVELS.p10))),
    p50: last,
    p90: last + Math.max(0, interpolateQuantile(errors, QUANTILE_LEVELS.p90)),
  }
}

/** Uses the last eight days of the same weekday, without scaling and without weights. */
export function sameWeekdayForecast(
  { firstDay, cents }: DailySpend,
  origin: number,
  horizon: number,
): Quantiles {
  const same: number[] = []
  const target = origin + horizon - 1 - firstDay
  for (let n = target - 7; n >= 0 && same.length < SAME_WEEKDAYS; n -= 7)
    if (n < origin - firstDay) same.push(cents[n] as number)
  same.sort((one, other) => one - other)
  return {
    p10: interpolateQuantile(same, QUANTILE_LEVELS.p10),
    p50: interpolateQuantile(same, QUANTILE_LEVELS.p50),
    p90: interpolateQuantile(same, QUANTILE_LEVELS.p90),
  }
}
