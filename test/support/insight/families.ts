import { createHash } from 'node:crypto'
import {
  type DailySpend,
  dateOfDay,
  dayNumber,
  lastDayOfMonth,
  weekdayOf,
} from '../../../src/insight/forecast/method/days.ts'

const DAYS = 365
const FIRST_DAY = dayNumber('2025-01-01')

/** An agent's spending in cents, by day and by position in the series. */
type Spender = (day: number, place: number) => number

type Random = () => number

/** Seeded numbers from 0 to below 1 (mulberry32). */
function randomOf(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE()
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Around 1, never negative: most days slightly less, some much more. */
function unevenly(random: Random, spread: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return Math.exp(spread * normal - spread ** 2 / 2)
}

const from = (random: Random, low: number, high: number): number => low + random() * (high - low)

/** The factors of each weekday, Sunday first. */
const WEEKS: readonly (readonly number[])[] = [
  [0.2, 1.2, 1.3, 1.2, 1.3, 1.1, 0.7],
  [0.1, 1.4, 1.3, 1.3, 1.3, 1.3, 0.3],
  [0.5, 1, 1, 1.1, 1.2, 1.2, 1],
]
const EVEN_WEEK = WEEKS[2] as readonly number[]

const anyWeek = (random: Random) => WEEKS[Math.floor(random() * WEEKS.length)] as readonly number[]

const on = (week: readonly number[], day: number): number => week[weekdayOf(day)] as number

function monthlyCharge(random: Random) {
  const level = from(random, 1_000, 5_000)
  return { level, charge: level * from(random, 5, 15), chargedOn: 1 + Math.floor(random() * 28) }
}

const isOnDay = (day: number, dayOfMonth: number): boolean => Number(dateOfDay(day).slice(-2)) === dayOfMonth

const MONDAY = 1
const isWeekend = (day: number): boolean => weekdayOf(day) % 6 === 0

/** Spending patterns of agents. */
export const families = {
  weekdays(random: Random): Spender {
    const [week, level, spread] = [anyWeek(random), from(random, 2_000, 22_000), from(random, 0.25, 0.6)]
    return day => level * on(week, day) * unevenly(random, spread)
  },

  'many zeros'(random: Random): Spender {
    const [chance, level] = [from(random, 0.25, 0.55), from(random, 1_000, 11_000)]
    const spread = from(random, 0.5, 0.9)
    return () => (random() < chance ? level * unevenly(random, spread) : 0)
  },

  /** Occasional bursts of two to six days with four to eight times as much. */
  bursts(random: Random): Spender {
    const level = from(random, 1_000, 6_000)
    let [daysLeft, times] = [0, 1]
    return day => {
      if (daysLeft > 0) daysLeft--
      else if (random() < 0.03) [daysLeft, times] = [2 + Math.floor(random() * 5), from(random, 4, 8)]
      return level * on(EVEN_WEEK, day) * (daysLeft > 0 ? times : 1) * unevenly(random, 0.45)
    }
  },

  'level doubles'(random: Random): Spender {
    const [week, level, spread] = [anyWeek(random), from(random, 2_000, 10_000), from(random, 0.3, 0.5)]
    const doublesAt = 200 + Math.floor(random() * 140)
    return (day, place) => level * (place < doublesAt ? 1 : 2) * on(week, day) * unevenly(random, spread)
  },

  trend(random: Random): Spender {
    const [week, level, spread] = [anyWeek(random), from(random, 2_000, 10_000), from(random, 0.3, 0.5)]
    const growth = from(random, 0.002, 0.006) * (random() < 0.75 ? 1 : -1)
    return (day, place) => level * Math.exp(growth * place) * on(week, day) * unevenly(random, spread)
  },

  'weekends at rest'(random: Random): Spender {
    const [level, spread] = [from(random, 2_000, 22_000), from(random, 0.25, 0.6)]
    return day => (isWeekend(day) ? 0 : level * unevenly(random, spread))
  },

  /** As before, but one weekend day in twenty has spending, and one working day in eight has none. */
  'weekends mostly at rest'(random: Random): Spender {
    const [level, spread] = [from(random, 2_000, 22_000), from(random, 0.25, 0.6)]
    return day => (random() < (isWeekend(day) ? 0.05 : 0.88) ? level * unevenly(random, spread) : 0)
  },

  'Mondays only'(random: Random): Spender {
    const [level, spread] = [from(random, 5_000, 50_000), from(random, 0.25, 0.6)]
    return day => (weekdayOf(day) === MONDAY ? level * unevenly(random, spread) : 0)
  },

  'weekends only'(random: Random): Spender {
    const [level, spread] = [from(random, 5_000, 50_000), from(random, 0.25, 0.6)]
    return day => (isWeekend(day) ? level * unevenly(random, spread) : 0)
  },

  /** Weekends become days of rest, or working days, some time in the second half of the year. */
  'weekends change'(random: Random): Spender {
    const [level, spread] = [from(random, 2_000, 22_000), from(random, 0.25, 0.6)]
    const [changesAt, restsAtFirst] = [200 + Math.floor(random() * 100), random() < 0.5]
    return (day, place) =>
      isWeekend(day) && place < changesAt === restsAtFirst ? 0 : level * unevenly(random, spread)
  },

  'every other week'(random: Random): Spender {
    const [level, spread] = [from(random, 2_000, 22_000), from(random, 0.25, 0.6)]
    return day =>
      isWeekend(day) || Math.floor((day + 3) / 7) % 2 === 0 ? 0 : level * unevenly(random, spread)
  },

  /** Three days at the end of each month. */
  'ends of months'(random: Random): Spender {
    const [level, spread] = [from(random, 5_000, 50_000), from(random, 0.25, 0.6)]
    return day => (lastDayOfMonth(day) - day < 3 ? level * unevenly(random, spread) : 0)
  },

  'monthly charge'(random: Random): Spender {
    const { level, charge, chargedOn } = monthlyCharge(random)
    const spread = from(random, 0.3, 0.6)
    return day =>
      level * on(EVEN_WEEK, day) * unevenly(random, spread) + (isOnDay(day, chargedOn) ? charge : 0)
  },
} as const

export type Family = keyof typeof families

export const familyNames = Object.keys(families) as Family[]

/** Patterns with weekdays without (or almost without) spending. */
export const restingNames = [
  'weekends at rest',
  'weekends mostly at rest',
  'Mondays only',
  'weekends only',
] as const satisfies readonly Family[]

/** Patterns whose rest days follow no fixed weekday. */
export const irregularNames = [
  'weekends change',
  'every other week',
  'ends of months',
] as const satisfies readonly Family[]

const others: readonly Family[] = [...restingNames, ...irregularNames]
export const workingNames = familyNames.filter(name => !others.includes(name))

/** Series without ties, of which the closed interval can cover 80 %. */
export const hasZeros = (family: Family): boolean => family === 'many zeros'

export const SERIES_OF_EACH = 20

/** Deterministic for a number. */
export function yearOf(family: Family, number: number): DailySpend {
  const spender = families[family](randomOf(`${family} ${number}`))
  const cents = Array.from({ length: DAYS }, (_, place) => Math.round(spender(FIRST_DAY + place, place)))
  return { firstDay: FIRST_DAY, cents }
}

/** The same year with a monthly charge, which is detected by its rhythm. */
export function yearWithSubscription(number: number): DailySpend {
  const year = yearOf('monthly charge', number)
  const { charge, chargedOn } = monthlyCharge(randomOf(`monthly charge ${number}`))
  const days = year.cents.map((_, place) => FIRST_DAY + place).filter(day => isOnDay(day, chargedOn))
  const cents = days.map(() => Math.floor(charge))
  return { ...year, subscriptions: [{ every: 'month', days, cents, brokenOn: null }] }
}
