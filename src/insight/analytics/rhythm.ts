import type { Euros } from '../../values/money.ts'
import { addDays, daysBetween } from '../reports/index.ts'

/** What was paid to a merchant on a day. */
export interface DayPaid {
  readonly day: string
  readonly payments: number
  readonly spentEuros: Euros
}

export interface Rhythm {
  readonly every: 'week' | 'month'
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

/** A bank holiday, a weekend or the end of a short month moves a charge by a few days. */
const RHYTHMS = [
  { every: 'week', least: 6, most: 8, days: 7, times: 4 },
  { every: 'month', least: 26, most: 34, days: 30, times: 3 },
] as const

/** A charge that is this much larger or smaller than the one before is another purchase, not a new price. */
const MOST_TIMES_DEARER = 3n

const isAlike = (one: Euros, other: Euros): boolean =>
  one <= other * MOST_TIMES_DEARER && other <= one * MOST_TIMES_DEARER

/**
 * The rhythm in which an agent pays a merchant, if there is one: the latest payments, one a day, follow each other by a week or
 * a month. It is over when the next one has not come in time. The days are in order.
 */
export function rhythmOf(days: readonly DayPaid[], before: string): Rhythm | null {
  const paid = days.filter(({ payments }) => payments > 0)
  const last = paid.at(-1)
  if (!last) return null
  for (const { every, least, most, days: length, times } of RHYTHMS) {
    let from = paid.length - 1
    while (from > 0) {
      const [one, next] = [paid[from - 1] as DayPaid, paid[from] as DayPaid]
      const apart = daysBetween(one.day, next.day)
      if (apart < least || apart > most || !isAlike(one.spentEuros, next.spentEuros)) break
      from--
    }
    const charges = paid.slice(from)
    const isOver = daysBetween(last.day, before) > most + 1
    if (charges.length < times || isOver) continue
    const first = charges[0] as DayPaid
    return {
      every,
      since: first.day,
      last: last.day,
      next: addDays(last.day, length),
      firstEuros: first.spentEuros,
      lastEuros: last.spentEuros,
      beforeEuros: charges.at(-2)?.spentEuros ?? first.spentEuros,
      times: charges.length,
    }
  }
  return null
}
