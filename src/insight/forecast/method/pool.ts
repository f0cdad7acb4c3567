import { type DailySpend, weekdayOf } from './days.ts'

/** Days that are looked back upon. */
export const POOL_DAYS = 182
/** After so many days a day counts half as much. */
const HALF_LIFE = 42
/** The weekdays change more slowly, and each has a seventh of the days: they are learnt from a longer time. */
const SHARE_HALF_LIFE = 84
/** Each weekday begins with the weight of this many average days, so that few days do not make a rule. */
const SHARE_PRIOR_DAYS = 2
const LEVEL_HALF_LIFE = 7
const LEVEL_PRIOR_DAYS = 3
/** A single day raises the level no more than so many average days. */
const LEVEL_CAP = 3
/** What is added to a level before two are compared, as a part of the mean: a level of zero has no ratio. */
const LEVEL_FLOOR = 0.1
/** Each day is brought half way to the level of now: the exponent of the ratio. */
const BROUGHT = 0.5
const MOST_BROUGHT = 4
/** The weight of the other weekdays beside the same one. */
const OTHER_WEEKDAYS = 0.3

const decayOf = (halfLife: number): number => 2 ** (-1 / halfLife)

/** The days before a forecast, comparable with each other and with today. */
export interface Pool {
  /** What each weekday has of an average day. */
  readonly shares: readonly number[]
  /** Days divided by the share of their weekday and brought half way to the level of now, the oldest first. */
  readonly values: Float64Array
  /** The number of the first day of `values`. */
  readonly firstDay: number
  /** The places in `values`, in the order of these. */
  readonly order: Uint16Array
}

/** The weight of a day by its age alone, of the day before the forecast 1. */
const AGE_WEIGHTS = Float64Array.from({ length: POOL_DAYS }, (_, age) => decayOf(HALF_LIFE) ** age)

export const ageWeight = (age: number): number => AGE_WEIGHTS[age] ?? 0

/** The pool as it is known before the day `end`, of the days that lie in `spend` before it. */
export function poolBefore(end: number, { firstDay, cents }: DailySpend): Pool {
  const from = Math.max(firstDay, end - POOL_DAYS)
  const days = Float64Array.from(cents.slice(from - firstDay, end - firstDay))
  const { shares, mean } = weekdayShares(days, from)
  const values = days.map((spent, n) => spent / (shares[weekdayOf(from + n)] as number))
  bringToNow(values, mean)
  const order = Uint16Array.from(values, (_, n) => n).sort(
    (a, b) => (values[a] as number) - (values[b] as number),
  )
  return { shares, values, firstDay: from, order }
}

function weekdayShares(days: Float64Array, from: number): { shares: number[]; mean: number } {
  const sums = Array<number>(7).fill(0)
  const weights = Array<number>(7).fill(0)
  let weight = 1
  for (let n = days.length - 1; n >= 0; n--) {
    const weekday = weekdayOf(from + n)
    sums[weekday] = (sums[weekday] as number) + weight * (days[n] as number)
    weights[weekday] = (weights[weekday] as number) + weight
    weight *= decayOf(SHARE_HALF_LIFE)
  }
  const total = weights.reduce((sum, each) => sum + each, 0)
  const mean = total > 0 ? sums.reduce((sum, each) => sum + each, 0) / total : 0
  const shareOf = (sum: number, of: number): number =>
    (sum / mean + SHARE_PRIOR_DAYS) / (of + SHARE_PRIOR_DAYS)
  const shares = sums.map((sum, weekday) => (mean > 0 ? shareOf(sum, weights[weekday] as number) : 1))
  return { shares, mean }
}

/** Multiplies each day by the root of what the level of now is to the level at that day. */
function bringToNow(values: Float64Array, mean: number): void {
  const decay = decayOf(LEVEL_HALF_LIFE)
  let weight = LEVEL_PRIOR_DAYS
  let sum = LEVEL_PRIOR_DAYS * mean
  const levels = values.map(value => {
    weight = weight * decay + 1
    sum = sum * decay + Math.min(value, LEVEL_CAP * mean)
    return sum / weight + LEVEL_FLOOR * mean
  })
  const now = levels.at(-1) ?? 0
  for (const [n, level] of levels.entries()) {
    const ratio = level > 0 ? now / level : 1
    const bounded = Math.min(MOST_BROUGHT, Math.max(1 / MOST_BROUGHT, ratio))
    values[n] = (values[n] as number) * bounded ** BROUGHT
  }
}

/** The values of the pool in ascending order, with their weights for a forecast of this day. */
export function weighted({ values, firstDay, order }: Pool, day: number) {
  const ascending = new Float64Array(order.length)
  const weights = new Float64Array(order.length)
  for (const [place, n] of order.entries()) {
    ascending[place] = values[n] as number
    const isSame = weekdayOf(firstDay + n) === weekdayOf(day)
    weights[place] = ageWeight(order.length - 1 - n) * (isSame ? 1 : OTHER_WEEKDAYS)
  }
  return { ascending, weights }
}
