import type { DailySpend } from './days.ts'
import { pinballLoss } from './quantiles.ts'
import { naiveForecast } from './rivals.ts'
import type { PastForecast } from './walk.ts'

/** The most days from which a forecast is judged. */
export const MOST_ORIGINS = 180

/** So many of the last days are told one by one. */
export const LAST_DAYS = 28

/** How the forecasts of the past have done. Losses are in cents, the mean of a day. */
export interface Backtest {
  /** The days from which forecasts were made. */
  readonly days: number
  /** The method that was less far off: it is used, and all but the three losses after `loss` is of it. */
  readonly method: 'pool' | 'same_weekdays'
  readonly coverage: number
  readonly above: number
  readonly below: number
  readonly loss: number
  readonly poolLoss: number
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
  const poolLoss = mean(({ forecast, actual }) => pinballLoss(forecast, actual))
  const rivalLoss = mean(({ rival, actual }) => pinballLoss(rival, actual))
  // By less than a cent neither is better.
  const isRivalBetter = Math.round(rivalLoss) < Math.round(poolLoss)
  const used = isRivalBetter ? judged.map(made => ({ ...made, forecast: made.rival })) : judged
  return {
    days: new Set(judged.map(({ origin }) => origin)).size,
    method: isRivalBetter ? 'same_weekdays' : 'pool',
    ...heldBy(used),
    loss: isRivalBetter ? rivalLoss : poolLoss,
    poolLoss,
    naiveLoss: mean(({ origin, horizon, actual }) =>
      pinballLoss(naiveForecast(spend, origin, horizon), actual),
    ),
    rivalLoss,
    lastDays: used.filter(({ origin, horizon }) => horizon === 1 && origin >= end - LAST_DAYS),
  }
}

function heldBy(made: readonly PastForecast[]) {
  const partOf = (isSo: (one: PastForecast) => boolean): number => made.filter(isSo).length / made.length
  const above = partOf(({ forecast, actual }) => actual > forecast.p90)
  const below = partOf(({ forecast, actual }) => actual < forecast.p10)
  return { coverage: 1 - above - below, above, below }
}
