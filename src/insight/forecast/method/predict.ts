import { weekdayOf } from './days.ts'
import type { Tails } from './levels.ts'
import { type Pool, weighted } from './pool.ts'
import { LEVELS, type Quantiles, weightedQuantiles } from './quantiles.ts'

/** The forecast of one day: the weighted quantiles of the pool, times the share of the day's weekday. */
export function predict(pool: Pool, day: number, { below, above }: Tails): Quantiles {
  const { ascending, weights } = weighted(pool, day)
  const share = pool.shares[weekdayOf(day)] as number
  const [p10 = 0, p50 = 0, p90 = 0] = weightedQuantiles(ascending, weights, [below, LEVELS.p50, 1 - above])
  return { p10: p10 * share, p50: p50 * share, p90: p90 * share }
}
