import type { ChargeSeries } from '../analytics/index.ts'
import type { DayOfSpend } from '../spend/index.ts'
import { type DailySpend, dayNumber, type SubscriptionCharges } from './method/days.ts'

/** Half a year of forecasts for the backtest, and the half year before the first of them. */
export const FORECAST_HISTORY_DAYS = 400

export interface SpendHistory {
  readonly spend: DailySpend
  /** In cents. Today is not over, so it is not part of `spend`. */
  readonly todayCents: number
}

const subscriptionOf = ({ every, days, cents, brokenOn }: ChargeSeries): SubscriptionCharges => ({
  every,
  days: days.map(dayNumber),
  cents: cents.map(Number),
  brokenOn: brokenOn === null ? null : dayNumber(brokenOn),
})

export function buildSpendHistory(
  spent: readonly DayOfSpend[],
  today: string,
  runs: readonly ChargeSeries[] = [],
): SpendHistory {
  const centsOn = new Map(
    spent.map(({ day, spentCents }) => [dayNumber(day), Math.max(0, Number(spentCents))]),
  )
  const end = dayNumber(today)
  const firstDay = Math.min(end, ...spent.filter(({ count }) => count > 0).map(({ day }) => dayNumber(day)))
  const cents = Array.from({ length: end - firstDay }, (_, n) => centsOn.get(firstDay + n) ?? 0)
  const subscriptions = runs.map(subscriptionOf)
  return { spend: { firstDay, cents, subscriptions }, todayCents: centsOn.get(end) ?? 0 }
}
