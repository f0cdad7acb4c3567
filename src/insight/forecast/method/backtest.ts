import type { SlicedWork } from '../../../kernel/contract/time-slices.ts'
import { naiveForecast, sameWeekdayForecast } from './baselines.ts'
import type { DailySpend } from './days.ts'
import { pinballLoss, type Quantiles, shiftQuantiles } from './quantiles.ts'
import { removeSubscriptionCharges } from './subscriptions.ts'
import { forecastWeekday, weeklySpendBefore } from './weekdays.ts'

const MOST_ORIGINS = 180

/** With fewer days, a weekday has occurred fewer than four times. */
export const MIN_BACKTEST_DAYS = 28

const HORIZONS: readonly number[] = [1, 7, 14]

export const BACKTESTED_DAYS = 28

interface PastForecast {
  readonly origin: number
  readonly horizon: number
  readonly day: number
  readonly forecast: Quantiles
  readonly naive: Quantiles
  readonly sameWeekdays: Quantiles
  readonly actual: number
}

/** Losses are in cents, as the mean of a day. */
export interface ForecastBacktest {
  readonly days: number
  readonly coverage: number
  readonly above: number
  readonly below: number
  readonly loss: number
  readonly naiveLoss: number
  readonly sameWeekdaysLoss: number
  readonly lastDays: readonly PastForecast[]
}

export function* backtestForecast(spend: DailySpend): SlicedWork<ForecastBacktest | undefined> {
  const end = spend.firstDay + spend.cents.length
  const made = yield* pastForecasts(spend)
  if (made.length === 0) return undefined
  const mean = (of: (one: PastForecast) => number): number =>
    made.reduce((sum, one) => sum + of(one), 0) / made.length
  const above = mean(({ forecast, actual }) => Number(actual > forecast.p90))
  const below = mean(({ forecast, actual }) => Number(actual < forecast.p10))
  return {
    days: new Set(made.map(({ origin }) => origin)).size,
    coverage: 1 - above - below,
    above,
    below,
    loss: mean(({ forecast, actual }) => pinballLoss(forecast, actual)),
    naiveLoss: mean(({ naive, actual }) => pinballLoss(naive, actual)),
    sameWeekdaysLoss: mean(({ sameWeekdays, actual }) => pinballLoss(sameWeekdays, actual)),
    lastDays: made.filter(({ origin, horizon }) => horizon === 1 && origin >= end - BACKTESTED_DAYS),
  }
}

/** Goes through the past day by day, and never uses later days. */
function* pastForecasts(spend: DailySpend): SlicedWork<PastForecast[]> {
  const { firstDay, cents } = spend
  const end = firstDay + cents.length
  const known = removeSubscriptionCharges(spend)
  const made: PastForecast[] = []
  for (let origin = Math.max(firstDay + MIN_BACKTEST_DAYS, end - MOST_ORIGINS); origin < end; origin++) {
    const before = known.before(origin)
    const weeks = weeklySpendBefore(origin, before)
    for (const horizon of HORIZONS) {
      const day = origin + horizon - 1
      if (day >= end) continue
      const expected = known.expectedOn(day, origin)
      const forecast = shiftQuantiles(expected, forecastWeekday(weeks, horizon - 1))
      const sameWeekdays = shiftQuantiles(expected, sameWeekdayForecast(before, origin, horizon))
      const naive = naiveForecast(spend, origin, horizon)
      const actual = cents[day - firstDay] as number
      made.push({ origin, horizon, day, forecast, naive, sameWeekdays, actual })
    }
    yield
  }
  return made
}
