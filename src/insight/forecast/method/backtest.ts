import type { Sliced } from '../../../kernel/contract/time-slices.ts'
import { naiveForecast, sameWeekdayForecast } from './baselines.ts'
import type { DailySpend } from './days.ts'
import { pinballLoss, type Quantiles, raisedBy } from './quantiles.ts'
import { withoutSubscriptions } from './subscriptions.ts'
import { weekdayForecast, weeksBefore } from './weekdays.ts'

/** The most days from which a forecast is judged. */
const MOST_ORIGINS = 180

/** Before so many days a weekday has not come four times. */
export const LEAST_DAYS = 28

/** Days ahead that are judged. */
const HORIZONS: readonly number[] = [1, 7, 14]

/** So many of the last days are listed one by one. */
export const LAST_DAYS = 28

/** A forecast made in the past for a day that is known by now. */
interface PastForecast {
  /** The day before which it was made: the first that was not known. */
  readonly origin: number
  readonly horizon: number
  readonly day: number
  readonly forecast: Quantiles
  readonly naive: Quantiles
  /** The last eight same weekdays, with the same subscriptions. */
  readonly sameWeekdays: Quantiles
  readonly actual: number
}

/** How the forecasts of the past have done. Losses are in cents, the mean of a day. */
export interface Backtest {
  /** The days from which forecasts were made. */
  readonly days: number
  readonly coverage: number
  readonly above: number
  readonly below: number
  readonly loss: number
  readonly naiveLoss: number
  readonly sameWeekdaysLoss: number
  /** The forecasts of the last days, each made on the day before. */
  readonly lastDays: readonly PastForecast[]
}

/** Judges forecasts as they were on each of the last days, beside both baselines; undefined where none was made yet. */
export function* backtestOf(spend: DailySpend): Sliced<Backtest | undefined> {
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
    lastDays: made.filter(({ origin, horizon }) => horizon === 1 && origin >= end - LAST_DAYS),
  }
}

/** Goes through the past day by day, as if each were today: nothing that comes later is used. */
function* pastForecasts(spend: DailySpend): Sliced<PastForecast[]> {
  const { firstDay, cents } = spend
  const end = firstDay + cents.length
  const known = withoutSubscriptions(spend)
  const made: PastForecast[] = []
  for (let origin = Math.max(firstDay + LEAST_DAYS, end - MOST_ORIGINS); origin < end; origin++) {
    const before = known.before(origin)
    const weeks = weeksBefore(origin, before)
    for (const horizon of HORIZONS) {
      const day = origin + horizon - 1
      if (day >= end) continue
      const expected = known.expectedOn(day, origin)
      const forecast = raisedBy(expected, weekdayForecast(weeks, horizon - 1))
      const sameWeekdays = raisedBy(expected, sameWeekdayForecast(before, origin, horizon))
      const naive = naiveForecast(spend, origin, horizon)
      const actual = cents[day - firstDay] as number
      made.push({ origin, horizon, day, forecast, naive, sameWeekdays, actual })
    }
    yield
  }
  return made
}
