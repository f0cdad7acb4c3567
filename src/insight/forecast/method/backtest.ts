import type { DailySpend } from './days.ts'
import { pinballLoss } from './quantiles.ts'
import { naiveForecast, sameWeekdayForecast } from './rivals.ts'
import type { PastForecast } from './walk.ts'

/** The most days from which a forecast is judged. */
export const MOST_ORIGINS = 180

/** So many of the last days are told one by one. */
export const LAST_DAYS = 28

/** How the forecasts of the past have done. Losses are in cents, the mean of a day. */
export interface Backtest {
  /** The days from which forecasts were made. */
  readonly days: number
  readonly coverage: number
  readonly above: number
  readonly below: number
  readonly loss: number
  readonly naiveLoss: number
  readonly rivalLoss: number
  /** What was foretold for the last days, each on the day before. */
  readonly lastDays: readonly PastForecast[]
}

/** Judges the forecasts of the last days beside both rivals; undefined where none was made yet. */
export function backtestOf(spend: DailySpend, past: readonly PastForecast[]): Backtest | undefined {
  const end = spend.firstDay + spend.cents.length
  const judged = past.filter(({ origin }) => origin >= end - MOST_ORIGINS)
  if (judged.length === 0) return undefined
  const mean = (of: (made: PastForecast) => number): number =>
    judged.reduce((sum, made) => sum + of(made), 0) / judged.length
  const above = mean(({ forecast, actual }) => Number(actual > forecast.p90))
  const below = mean(({ forecast, actual }) => Number(actual < forecast.p10))
  return {
    days: new Set(judged.map(({ origin }) => origin)).size,
    coverage: 1 - above - below,
    above,
    below,
    loss: mean(({ forecast, actual }) => pinballLoss(forecast, actual)),
    naiveLoss: mean(({ origin, horizon, actual }) =>
      pinballLoss(naiveForecast(spend, origin, horizon), actual),
    ),
    rivalLoss: mean(({ origin, horizon, actual }) =>
      pinballLoss(sameWeekdayForecast(spend, origin, horizon), actual),
    ),
    lastDays: judged.filter(({ origin, horizon }) => horizon === 1 && origin >= end - LAST_DAYS),
  }
}
