import { type DailySpend, weekdayOf } from './days.ts'
import { ageWeight, type Pool } from './pool.ts'

/** What was expected of an average day at some point of the past. */
export interface Expectation {
  readonly origin: number
  readonly mean: number
  readonly shares: readonly number[]
}

/** The mean of the pool: younger days count more. */
export function expectationOf({ values, shares }: Pool, origin: number): Expectation {
  let [sum, weights] = [0, 0]
  for (const [n, value] of values.entries()) {
    const weight = ageWeight(values.length - 1 - n)
    weights += weight
    sum += weight * value
  }
  return { origin, mean: weights > 0 ? sum / weights : 0, shares }
}

/** Over longer spans there is too little past to learn from. */
const MOST_DAYS = 28
const HALF_LIFE = 84
const LEAST_RATIO = 0.1
const MOST_RATIO = 4

/** How the sum of some days compared with the expected one, again and again, with sums of weights to draw from. */
export interface LevelErrors {
  readonly ratios: readonly number[]
  readonly sums: readonly number[]
}

/**
 * Looks at every span of the past that is as long as the one ahead. A level that moves, and one that was judged wrongly,
 * make all days of a span err in the same direction: no drawing of single days or weeks shows that.
 */
export function levelErrorsOf(
  { firstDay, cents }: DailySpend,
  expectations: readonly Expectation[],
  days: number,
): LevelErrors {
  const span = Math.min(days, MOST_DAYS, Math.floor(cents.length / 4))
  const end = firstDay + cents.length
  const ratios: number[] = []
  const sums: number[] = []
  let weights = 0
  for (const { origin, mean, shares } of expectations) {
    if (origin + span > end) break
    let [actual, expected] = [0, 0]
    for (let day = origin; day < origin + span; day++) {
      actual += cents[day - firstDay] as number
      expected += mean * (shares[weekdayOf(day)] as number)
    }
    const ratio = expected > 0 ? actual / expected : 1
    ratios.push(Math.min(MOST_RATIO, Math.max(LEAST_RATIO, ratio)))
    weights += 2 ** ((origin - end) / HALF_LIFE)
    sums.push(weights)
  }
  return { ratios, sums }
}
