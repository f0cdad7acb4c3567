import { backtestForecast, type ForecastBacktest } from '../../../src/insight/forecast/method/backtest.ts'
import type { DailySpend } from '../../../src/insight/forecast/method/days.ts'
import { forecastSpend } from '../../../src/insight/forecast/method/outlook.ts'
import { totalQuantiles } from '../../../src/insight/forecast/method/paths.ts'
import { runAtOnce } from '../../../src/kernel/contract/time-slices.ts'
import { type Family, SERIES_OF_EACH, yearOf } from './families.ts'

/** The forecast's accuracy on one family, as means over its series. */
export interface FamilyFigures {
  /** The loss relative to the naive forecast. */
  readonly ofNaive: number
  /** That of the mean of the last eight same weekdays. */
  readonly baselineOfNaive: number
  readonly coverage: number
  readonly above: number
}

const meanOf = <T>(all: readonly T[], of: (each: T) => number): number =>
  all.reduce((sum, each) => sum + of(each), 0) / all.length

export function figuresOf(
  family: Family,
  yearFor: (number: number) => DailySpend = number => yearOf(family, number),
  series: number = SERIES_OF_EACH,
): FamilyFigures {
  const tests = Array.from(
    { length: series },
    (_, number) => runAtOnce(backtestForecast(yearFor(number))) as ForecastBacktest,
  )
  return {
    ofNaive: meanOf(tests, ({ loss, naiveLoss }) => loss / naiveLoss),
    baselineOfNaive: meanOf(tests, ({ sameWeekdaysLoss, naiveLoss }) => sameWeekdaysLoss / naiveLoss),
    coverage: meanOf(tests, ({ coverage }) => coverage),
    above: meanOf(tests, ({ above }) => above),
  }
}

/** How many sums of this many days were within p10–p90 of `total`, starting at intervals over the last 180 days. */
export function coverageOfTotals(family: Family, days: number, apart = 10): number {
  const held: boolean[] = []
  for (let number = 0; number < SERIES_OF_EACH; number++)
    held.push(...heldIn(yearOf(family, number), days, apart))
  return meanOf(held, Number)
}

function heldIn(spend: DailySpend, days: number, apart: number): boolean[] {
  const held: boolean[] = []
  for (let known = spend.cents.length - 180; known + days <= spend.cents.length; known += apart) {
    const before = { ...spend, cents: spend.cents.slice(0, known) }
    const { p10, p90 } = totalQuantiles(forecastSpend(before, 1).paths, days)
    const actual = spend.cents.slice(known, known + days).reduce((sum, spent) => sum + spent, 0)
    held.push(actual >= p10 && actual <= p90)
  }
  return held
}
