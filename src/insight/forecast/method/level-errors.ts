import { type DailySpend, weekdayOf } from './days.ts'
import { ageWeight, type DrawnPool } from './pool.ts'

/** What was expected of each weekday at some point of the past, Sunday first. */
export interface Expectation {
  readonly origin: number
  readonly ofWeekday: readonly number[]
}

/**
 * The mean of each weekday in the pool, as courses draw it: younger days count more. One mean for all weekdays would be too low
 * for those who never pay on some of them.
 */
export function expectationOf({ values, shares, firstDay }: DrawnPool, origin: number): Expectation {
  const sums = Array<number>(7).fill(0)
  const weights = Array<number>(7).fill(0)
  for (let n = 0; n < values.length; n++) {
    const value = values[n] as number
    const weekday = weekdayOf(firstDay + n)
    const weight = ageWeight(values.length - 1 - n)
    weights[weekday] = (weights[weekday] as number) + weight
    sums[weekday] = (sums[weekday] as number) + weight * value
  }
  const ofWeekday = shares.map((share, weekday) => {
    const weight = weights[weekday] as number
    return weight > 0 ? (share * (sums[weekday] as number)) / weight : 0
  })
  return { origin, ofWeekday }
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
  for (const { origin, ofWeekday } of expectations) {
    if (origin + span > end) break
    let [actual, expected] = [0, 0]
    for (let day = origin; day < origin + span; day++) {
      actual += cents[day - firstDay] as number
      expected += ofWeekday[weekdayOf(day)] as number
    }
    const ratio = expected > 0 ? actual / expected : 1
    ratios.push(Math.min(MOST_RATIO, Math.max(LEAST_RATIO, ratio)))
    weights += 2 ** ((origin - end) / HALF_LIFE)
    sums.push(weights)
  }
  return { ratios, sums }
}
