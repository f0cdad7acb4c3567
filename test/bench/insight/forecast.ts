import { backtestForecast } from '../../../src/insight/forecast/method/backtest.ts'
import { forecastSpend } from '../../../src/insight/forecast/method/outlook.ts'
import { runAtOnce } from '../../../src/kernel/contract/time-slices.ts'
import { type Family, familyNames, yearOf, yearWithSubscription } from '../../support/insight/families.ts'
import { coverageOfTotals, type FamilyFigures, figuresOf } from '../../support/insight/figures.ts'
import { type Section, tableLine } from '../report.ts'
import { usualOrShort } from '../short.ts'

const APART = usualOrShort(10, 90)
const ROUNDS = usualOrShort(20, 3)

interface Measured extends FamilyFigures {
  readonly family: Family
  /** The share of sums over this period within the interval. */
  readonly week: number
  readonly fourWeeks: number
}

const percent = (part: number): string => `${Math.round(part * 100)} %`

/** Evaluates the forecast on series of several kinds, and times a forecast of a year of days with its backtest. */
export function measureForecast(): Section {
  const figures: Measured[] = []
  for (const family of familyNames) {
    const week = coverageOfTotals(family, 7, APART)
    const fourWeeks = coverageOfTotals(family, 28, APART)
    figures.push({ family, ...figuresOf(family), week, fourWeeks })
  }
  const found = figuresOf('monthly charge', yearWithSubscription)
  const ms = millisecondsOfOne()
  const head = ['series', 'of naive', 'baseline', 'covered', 'above p90', '7 days', '28 days']
  const lines = figures.map(({ family, ofNaive, baselineOfNaive, ...held }) =>
    tableLine([
      family,
      ...[ofNaive, baselineOfNaive].map(part => part.toFixed(2)),
      ...[held.coverage, held.above, held.week, held.fourWeeks].map(percent),
    ]),
  )
  const known = `The monthly charge, once it is found by its rhythm: ${found.ofNaive.toFixed(2)} of naive, covered ${percent(found.coverage)}, above p90 ${percent(found.above)}`
  const text = [
    tableLine(head),
    ...lines,
    known,
    `A year of days with its backtest: ${ms.toFixed(0)} ms`,
  ].join('\n')
  return { figures: { forecast: { figures, found, ms } }, text }
}

/** For a year of days with its backtest: the median of several pasts. */
export function millisecondsOfOne(): number {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const past = yearOf('weekdays', round)
    const began = performance.now()
    forecastSpend(past, 30)
    runAtOnce(backtestForecast(past))
    times.push(performance.now() - began)
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
}
