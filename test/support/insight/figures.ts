import { type Backtest, backtestOf } from '../../../src/insight/forecast/method/backtest.ts'
import { totalsOf } from '../../../src/insight/forecast/method/courses.ts'
import { type DailySpend, firstDays } from '../../../src/insight/forecast/method/days.ts'
import { quantilesOf } from '../../../src/insight/forecast/method/quantiles.ts'
import { walkThrough } from '../../../src/insight/forecast/method/walk.ts'
import { outlookOf } from '../../../src/insight/forecast/outlook.ts'
import { atOnce } from '../../../src/kernel/contract/time-slices.ts'
import { type Family, SERIES_OF_EACH, yearOf } from './families.ts'

/** How the method does on the series of one family: means over these. */
export interface FamilyFigures {
  /** The loss, as a part of that of the naive forecast. */
  readonly ofNaive: number
  /** That of the whole method, also where the rival is used. */
  readonly poolOfNaive: number
  readonly rivalOfNaive: number
  readonly coverage: number
  readonly above: number
  /** In how many of the series the rival is used. */
  readonly rivalUsed: number
}

const meanOf = <T>(all: readonly T[], of: (each: T) => number): number =>
  all.reduce((sum, each) => sum + of(each), 0) / all.length

/** A series of the family, or another one, for each number. */
export function figuresOf(
  family: Family,
  yearFor: (number: number) => DailySpend = number => yearOf(family, number),
  series: number = SERIES_OF_EACH,
): FamilyFigures {
  const tests = Array.from({ length: series }, (_, number) => {
    const spend = yearFor(number)
    return backtestOf(spend, atOnce(walkThrough(spend)).past) as Backtest
  })
  return {
    ofNaive: meanOf(tests, ({ loss, naiveLoss }) => loss / naiveLoss),
    poolOfNaive: meanOf(tests, ({ poolLoss, naiveLoss }) => poolLoss / naiveLoss),
    rivalOfNaive: meanOf(tests, ({ rivalLoss, naiveLoss }) => rivalLoss / naiveLoss),
    coverage: meanOf(tests, ({ coverage }) => coverage),
    above: meanOf(tests, ({ above }) => above),
    rivalUsed: tests.filter(({ method }) => method === 'same_weekdays').length,
  }
}

/** How many of the sums of so many days lay within p10–p90 of the drawn `total`: from some of the last 180 days, so far apart. */
export async function coverageOfTotals(family: Family, days: number, apart = 10): Promise<number> {
  const held: boolean[] = []
  for (let number = 0; number < SERIES_OF_EACH; number++)
    held.push(...(await heldIn(yearOf(family, number), days, apart)))
  return meanOf(held, Number)
}

async function heldIn(spend: DailySpend, days: number, apart: number): Promise<boolean[]> {
  const held: boolean[] = []
  for (let known = spend.cents.length - 180; known + days <= spend.cents.length; known += apart) {
    const { draw } = await outlookOf(firstDays(spend, known), 1, `${spend.firstDay + known}`)
    const { p10, p90 } = quantilesOf(totalsOf(draw(days), days))
    const actual = spend.cents.slice(known, known + days).reduce((sum, spent) => sum + spent, 0)
    held.push(actual >= p10 && actual <= p90)
  }
  return held
}
