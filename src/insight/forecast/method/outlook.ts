import { LEAST_DAYS } from './backtest.ts'
import { type DailySpend, dateOfDay } from './days.ts'
import { pathsOfFewDays, pathsOfWeeks, type SimulatedPath } from './paths.ts'
import { type Quantiles, sampleQuantiles } from './quantiles.ts'
import { withoutSubscriptions } from './subscriptions.ts'
import { weekdayForecast, weeksBefore } from './weekdays.ts'

/** With fewer days no weekday is known, and nothing is forecast. */
const LEAST_FOR_ANYTHING = 7

/** The method by the length of the history: same weekdays, the few known days, or none. */
export const methods = ['same_weekdays', 'little', 'none'] as const

export const MOST_DAYS = 90

export interface Outlook {
  readonly method: (typeof methods)[number]
  readonly days: readonly (Quantiles & { readonly date: string })[]
  readonly paths: readonly SimulatedPath[]
}

export function outlookOf(spend: DailySpend, count: number): Outlook {
  const known = spend.cents.length
  if (known < LEAST_FOR_ANYTHING) return { method: 'none', days: [], paths: [] }
  const end = spend.firstDay + known
  const rest = withoutSubscriptions(spend).before(end)
  const daysBy = (forecast: (ahead: number) => Quantiles) =>
    Array.from({ length: count }, (_, ahead) => ({ date: dateOfDay(end + ahead), ...forecast(ahead) }))
  if (known < LEAST_DAYS) {
    const everyDay = sampleQuantiles(rest.cents, () => 1)
    return { method: 'little', days: daysBy(() => everyDay), paths: pathsOfFewDays(rest.cents, MOST_DAYS) }
  }
  const weeks = weeksBefore(end, rest)
  return {
    method: 'same_weekdays',
    days: daysBy(ahead => weekdayForecast(weeks, ahead)),
    paths: pathsOfWeeks(weeks, MOST_DAYS),
  }
}
