import { weekdayOf } from './days.ts'
import { FIRST_TAILS, type Tails } from './levels.ts'
import { type Pool, weighted } from './pool.ts'
import { LEVELS, type Quantiles, weightedQuantiles } from './quantiles.ts'

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
