import { weekdayOf } from './days.ts'

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
export function restingWeekdays(cents: ArrayLike<number>, firstDay: number): boolean[] {
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
