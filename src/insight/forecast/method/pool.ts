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
/** Each day is brought half way to the level of now, by the root of the ratio, which is bounded. */
const MOST_BROUGHT = 4
/** The weight of the other weekdays beside the same one. */
const OTHER_WEEKDAYS = 0.3

const decayOf = (halfLife: number): number => 2 ** (-1 / halfLife)
const LEVEL_DECAY = decayOf(LEVEL_HALF_LIFE)

/** The days of the past from which days ahead are drawn. */
export interface DrawnPool {
  /** What each weekday has of an average working day; 1 for those at rest, whose days stay as they are. */
  readonly shares: readonly number[]
  /** Days divided by the share of their weekday and brought half way to the level of now, the oldest first. */
  readonly values: Float64Array
  /** The number of the first day of `values`. */
  readonly firstDay: number
}

/** The days before a forecast, comparable with each other and with today. */
export interface Pool extends DrawnPool {
  /** The weekdays, Sunday first, on which the agent rests: days of the others say nothing about them. */
  readonly resting: readonly boolean[]
  /** The places in `values`, in the order of these. */
  readonly order: Uint16Array
}

const weightsOf = (halfLife: number): Float64Array =>
  Float64Array.from({ length: POOL_DAYS }, (_, age) => decayOf(halfLife) ** age)

/** The weight of a day by its age alone, of the day before the forecast 1. */
const AGE_WEIGHTS = weightsOf(HALF_LIFE)
const SHARE_WEIGHTS = weightsOf(SHARE_HALF_LIFE)

export const ageWeight = (age: number): number => AGE_WEIGHTS[age] ?? 0

/**
 * The pool as it is known before the day `end`, of the days that lie in `spend` before it. With the pool of the day before it is
 * made faster, and is the same.
 */
export function poolBefore(end: number, { firstDay, cents }: DailySpend, dayBefore?: Pool): Pool {
  const from = Math.max(firstDay, end - POOL_DAYS)
  const values = new Float64Array(cents.slice(from - firstDay, end - firstDay))
  const resting = restingWeekdays(values, from)
  const working = workingPlaces(values.length, from, resting)
  const { shares, mean } = weekdayShares(values, from, working)
  for (const n of working) values[n] = (values[n] as number) / (shares[weekdayOf(from + n)] as number)
  bringToNow(values, mean, working)
  const order = placesSince(from, values.length, dayBefore)
  sortByValue(order, values)
  return { resting, shares, values, firstDay: from, order }
}

function workingPlaces(count: number, from: number, resting: readonly boolean[]): number[] {
  const working: number[] = []
  for (let n = 0; n < count; n++) if (!resting[weekdayOf(from + n)]) working.push(n)
  return working
}

/** The places in the order of the pool of the day before, which is nearly that of today, and behind them those that are new. */
function placesSince(from: number, count: number, dayBefore: Pool | undefined): Uint16Array {
  const order = new Uint16Array(count)
  let length = 0
  let next = 0
  if (dayBefore) {
    const gone = from - dayBefore.firstDay
    for (const before of dayBefore.order) if (before >= gone) order[length++] = before - gone
    next = dayBefore.values.length - gone
  }
  for (; next < count; next++) order[length++] = next
  return order
}

/** Puts the places in the order of their values, of two alike the earlier first: fast where they nearly are. */
function sortByValue(order: Uint16Array, values: Float64Array): void {
  for (let end = 1; end < order.length; end++) {
    const place = order[end] as number
    const value = values[place] as number
    let at = end
    for (; at > 0; at--) {
      const before = order[at - 1] as number
      const other = values[before] as number
      if (other < value || (other === value && before < place)) break
      order[at] = before
    }
    order[at] = place
  }
}

function weekdayShares(days: Float64Array, from: number, working: readonly number[]) {
  const sums = Array<number>(7).fill(0)
  const weights = Array<number>(7).fill(0)
  for (const n of working) {
    const weekday = weekdayOf(from + n)
    const weight = SHARE_WEIGHTS[days.length - 1 - n] as number
    sums[weekday] = (sums[weekday] as number) + weight * (days[n] as number)
    weights[weekday] = (weights[weekday] as number) + weight
  }
  const total = weights.reduce((sum, each) => sum + each, 0)
  const mean = total > 0 ? sums.reduce((sum, each) => sum + each, 0) / total : 0
  const shareOf = (sum: number, of: number): number =>
    of > 0 ? (sum / mean + SHARE_PRIOR_DAYS) / (of + SHARE_PRIOR_DAYS) : 1
  const shares = sums.map((sum, weekday) => (mean > 0 ? shareOf(sum, weights[weekday] as number) : 1))
  return { shares, mean }
}

/** Multiplies each working day by the root of what the level of now is to the level at that day. */
function bringToNow(values: Float64Array, mean: number, working: readonly number[]): void {
  const levels = new Float64Array(values.length)
  let weight = LEVEL_PRIOR_DAYS
  let sum = LEVEL_PRIOR_DAYS * mean
  let now = 0
  for (const n of working) {
    weight = weight * LEVEL_DECAY + 1
    sum = sum * LEVEL_DECAY + Math.min(values[n] as number, LEVEL_CAP * mean)
    now = sum / weight + LEVEL_FLOOR * mean
    levels[n] = now
  }
  for (const n of working) {
    const level = levels[n] as number
    const ratio = level > 0 ? now / level : 1
    const bounded = Math.min(MOST_BROUGHT, Math.max(1 / MOST_BROUGHT, ratio))
    values[n] = (values[n] as number) * Math.sqrt(bounded)
  }
}

/**
 * The values of the pool in ascending order, with their weights for a forecast of this day: working days for one of these, days of
 * rest for one at rest.
 */
export function weighted({ resting, values, firstDay, order }: Pool, day: number) {
  const ascending = new Float64Array(order.length)
  const weights = new Float64Array(order.length)
  const weekday = weekdayOf(day)
  const ofWeekdays = resting.map((rests, other) => weightOfWeekday(other, rests))
  let count = 0
  for (const n of order) {
    const ofWeekday = ofWeekdays[weekdayOf(firstDay + n)] as number
    if (ofWeekday === 0) continue
    ascending[count] = values[n] as number
    weights[count] = ageWeight(order.length - 1 - n) * ofWeekday
    count++
  }
  return { ascending: ascending.subarray(0, count), weights: weights.subarray(0, count) }

  function weightOfWeekday(other: number, rests: boolean): number {
    if (other === weekday) return 1
    return rests === resting[weekday] ? OTHER_WEEKDAYS : 0
  }
}

/** So many of the last same weekdays are looked at: a quarter of a year. */
const WEEKS = 13
const LEAST_WEEKS = 4
/** A weekday is at rest while at most this part of its days has cost something: a person may work on a Sunday now and then. */
const MOST_ACTIVE = 0.2
/** Beside an agent that spends seldom on any day, a weekday must be empty so often that chance does not explain it. */
const LEAST_CHANCE = 0.001

interface Weekday {
  readonly days: number
  readonly active: number
}

/** The weekdays, Sunday first, on which nearly nothing was ever spent of late, although the others are working days. */
function restingWeekdays(cents: ArrayLike<number>, firstDay: number): boolean[] {
  const weekdays = Array.from({ length: 7 }, (_, weekday) => lastOf(cents, firstDay, weekday))
  const isQuiet = ({ days, active }: Weekday): boolean => days >= LEAST_WEEKS && active <= MOST_ACTIVE * days
  const others = weekdays.filter(weekday => !isQuiet(weekday))
  const sumOf = (name: keyof Weekday): number => others.reduce((sum, one) => sum + one[name], 0)
  const rate = (sumOf('active') + 0.5) / (sumOf('days') + 1)
  return weekdays.map(weekday => isQuiet(weekday) && chanceOfAtMost(weekday, rate) < LEAST_CHANCE)
}

function lastOf(cents: ArrayLike<number>, firstDay: number, weekday: number): Weekday {
  const end = firstDay + cents.length
  let [days, active] = [0, 0]
  for (let n = cents.length - 1 - ((weekdayOf(end - 1) - weekday + 7) % 7); n >= 0 && days < WEEKS; n -= 7) {
    days++
    if ((cents[n] as number) > 0) active++
  }
  return { days, active }
}

/** How probable so few active days are, or fewer, where each is one at this rate (the binomial distribution). */
function chanceOfAtMost({ days, active }: Weekday, rate: number): number {
  let term = (1 - rate) ** days
  let sum = term
  for (let n = 0; n < active; n++) {
    term *= ((days - n) / (n + 1)) * (rate / (1 - rate))
    sum += term
  }
  return sum
}
