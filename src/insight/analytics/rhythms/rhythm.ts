import { dayOf } from '../../../values/clock.ts'
import type { Euros } from '../../../values/money.ts'
import { addDays, daysBetween } from '../../reports/index.ts'

/** A bank holiday, a weekend or the end of a short month moves a charge by a few days. */
export const RHYTHMS = {
  week: { least: 6, most: 8, days: 7, times: 4 },
  month: { least: 26, most: 34, days: 30, times: 3 },
} as const

export type Every = keyof typeof RHYTHMS

/** A charge that is this much larger or smaller than the one before is another purchase, not a new price. */
export const MOST_TIMES_DEARER = 3

/** Payments of an agent to a merchant, one a day, that followed each other by a week or a month. */
export interface Run {
  readonly agentId: string
  readonly merchant: string
  readonly every: Every
  /** The days on which it was charged, in order, and what each cost. */
  readonly days: readonly string[]
  readonly cents: readonly Euros[]
  /** The first payment after it, which did not come in its time; null: there was none. */
  readonly brokenOn: string | null
}

interface Rhythm {
  readonly every: Every
  /** The first and the last payment of it. */
  readonly since: string
  readonly last: string
  readonly next: string
  readonly firstEuros: Euros
  readonly lastEuros: Euros
  /** The amount before the last one. */
  readonly beforeEuros: Euros
  readonly times: number
}

/** So many of the latest charges tell on which day of the month it comes. */
const LATEST = 8

const lengthOfMonth = (year: number, month: number): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

const partsOf = (day: string): [number, number, number] =>
  day.split('-').map(Number) as [number, number, number]

/** The day of the month on which most of these days lie; the last one of a short month counts for each after it. */
function usualDay(days: readonly string[]): number | undefined {
  const parts = days.map(partsOf)
  const timesOn = (of: number): number =>
    parts.filter(([year, month, day]) => day === Math.min(of, lengthOfMonth(year, month))).length
  const [best] = [...new Set(parts.map(([, , day]) => day))]
    .map(day => ({ day, times: timesOn(day) }))
    .sort((one, other) => other.times - one.times || other.day - one.day)
  return best && best.times * 2 > days.length ? best.day : undefined
}

/** When charges after one are to be expected: a month later on the day on which it mostly comes, else thirty days later. */
export function nextsOf({ every, days }: Pick<Run, 'every' | 'days'>): (day: string) => string {
  if (every === 'week') return day => addDays(day, RHYTHMS.week.days)
  const usual = usualDay(days.slice(-LATEST))
  if (usual === undefined) return day => addDays(day, RHYTHMS.month.days)
  return day => {
    const [year, month] = partsOf(day)
    return dayOf(new Date(Date.UTC(year, month, Math.min(usual, lengthOfMonth(year, month + 1)))))
  }
}

/** Whether the next one has not come in its time, where `before` is the first day that is not known. */
export const isOver = ({ every, days }: Pick<Run, 'every' | 'days'>, before: string): boolean =>
  daysBetween(days.at(-1) ?? '', before) > RHYTHMS[every].most + 1

export function rhythmOf(run: Run): Rhythm {
  const { every, days, cents } = run
  const last = days.at(-1) ?? ''
  return {
    every,
    since: days[0] ?? '',
    last,
    next: nextsOf(run)(last),
    firstEuros: cents[0] ?? 0n,
    lastEuros: cents.at(-1) ?? 0n,
    beforeEuros: cents.at(-2) ?? 0n,
    times: days.length,
  }
}
