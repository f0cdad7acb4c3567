import { type Backtest, backtestOf } from '../../../src/insight/forecast/method/backtest.ts'
import { totalsOf } from '../../../src/insight/forecast/method/courses.ts'
import { type DailySpend, firstDays } from '../../../src/insight/forecast/method/days.ts'
import { drawAhead } from '../../../src/insight/forecast/method/draw-ahead.ts'
import { quantilesOf } from '../../../src/insight/forecast/method/quantiles.ts'
import { walkThrough } from '../../../src/insight/forecast/method/walk.ts'
import { atOnce } from '../../../src/kernel/contract/time-slices.ts'
import { type Family, SERIES_OF_EACH, yearOf } from './families.ts'

/** How the method does on the series of one family: means over these. */
export interface FamilyFigures {
  /** The loss, as a part of that of the naive forecast. */
  readonly ofNaive: number
  readonly rivalOfNaive: number
  readonly coverage: number
  readonly above: number
}

const meanOf = <T>(all: readonly T[], of: (each: T) => number): number =>
  all.reduce((sum, each) => sum + of(each), 0) / all.length

/** A series of the family, or another one, for each number. */
export function figuresOf(
  family: Family,
  yearFor: (number: number) => DailySpend = number => yearOf(family, number),
): FamilyFigures {
  const tests = Array.from({ length: SERIES_OF_EACH }, (_, number) => {
    const spend = yearFor(number)
    return backtestOf(spend, atOnce(walkThrough(spend)).past) as Backtest
  })
  return {
    ofNaive: meanOf(tests, ({ loss, naiveLoss }) => loss / naiveLoss),
    rivalOfNaive: meanOf(tests, ({ rivalLoss, naiveLoss }) => rivalLoss / naiveLoss),
    coverage: meanOf(tests, ({ coverage }) => coverage),
    above: meanOf(tests, ({ above }) => above),
  }
}

/** How many of the sums of so many days lay within p10–p90 of the drawn `total`: from some of the last 180 days, so far apart. */
export function coverageOfTotals(family: Family, days: number, apart = 10): number {
  const held = Array.from({ length: SERIES_OF_EACH }, (_, number) =>
    heldIn(yearOf(family, number), days, apart),
  )
  return meanOf(held.flat(), Number)
}

function heldIn(spend: DailySpend, days: number, apart: number): boolean[] {
  const held: boolean[] = []
  for (let known = spend.cents.length - 180; known + days <= spend.cents.length; known += apart) {
    const origin = spend.firstDay + known
    const courses = drawAhead(atOnce(walkThrough(firstDays(spend, known))), days, `${origin}`)
    const { p10, p90 } = quantilesOf(totalsOf(courses, days))
    const actual = spend.cents.slice(known, known + days).reduce((sum, spent) => sum + spent, 0)
    held.push(actual >= p10 && actual <= p90)
  }
  return held
}
