import { MIN_BACKTEST_DAYS } from './backtest.ts'
import { type DailySpend, dateOfDay } from './days.ts'
import { type SimulatedPath, simulateSparsePaths, simulateWeeklyPaths } from './paths.ts'
import { type Quantiles, sampleQuantiles } from './quantiles.ts'
import { removeSubscriptionCharges } from './subscriptions.ts'
import { forecastWeekday, weeklySpendBefore } from './weekdays.ts'

/** With fewer days no weekday is known, and nothing is forecast. */
const LEAST_FOR_ANYTHING = 7

/** The method by the length of the history: same weekdays, the few known days, or none. */
export const forecastMethods = ['same_weekdays', 'little', 'none'] as const

export const MAX_FORECAST_DAYS = 90

export interface SpendForecast {
  readonly method: (typeof forecastMethods)[number]
  readonly days: readonly (Quantiles & { readonly date: string })[]
  readonly paths: readonly SimulatedPath[]
}

export function forecastSpend(spend: DailySpend, count: number): SpendForecast {
  const known = spend.cents.length
  if (known < LEAST_FOR_ANYTHING) return { method: 'none', days: [], paths: [] }
  const end = spend.firstDay + known
  const rest = removeSubscriptionCharges(spend).before(end)
  const daysBy = (forecast: (ahead: number) => Quantiles) =>
    Array.from({ length: count }, (_, ahead) => ({ date: dateOfDay(end + ahead), ...forecast(ahead) }))
  if (known < MIN_BACKTEST_DAYS) {
    const everyDay = sampleQuantiles(rest.cents, () => 1)
    return {
      method: 'little',
      days: daysBy(() => everyDay),
      paths: simulateSparsePaths(rest.cents, MAX_FORECAST_DAYS),
    }
  }
  const weeks = weeklySpendBefore(end, rest)
  return {
    method: 'same_weekdays',
    days: daysBy(ahead => forecastWeekday(weeks, ahead)),
    paths: simulateWeeklyPaths(weeks, MAX_FORECAST_DAYS),
  }
}
