import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { estimateDepletionDates } from '../../../src/insight/forecast/depletion-date.ts'
import { type DailySpend, dayNumber } from '../../../src/insight/forecast/method/days.ts'
import { forecastSpend } from '../../../src/insight/forecast/method/outlook.ts'
import { totalQuantiles } from '../../../src/insight/forecast/method/paths.ts'
import { type Quantiles, sampleQuantiles } from '../../../src/insight/forecast/method/quantiles.ts'
import {
  hasZeros,
  irregularNames,
  restingNames,
  workingNames,
  yearOf,
  yearWithSubscription,
} from '../../support/insight/families.ts'
import { coverageOfTotals, figuresOf } from '../../support/insight/figures.ts'

const firstDay = dayNumber('2026-01-01')
const pastOf = (cents: readonly number[]): DailySpend => ({ firstDay, cents })
const allOf = (days: number, cents: number): DailySpend => pastOf(Array<number>(days).fill(cents))

const isInOrder = ({ p10, p50, p90 }: Quantiles): boolean =>
  [p10, p50, p90].every(Number.isFinite) && p10 >= 0 && p10 <= p50 && p50 <= p90

describe('the forecast beside its baselines, on series of six kinds', () => {
  /** Half of the series of the bench: the figures agree to two digits. */
  const SERIES = 10
  const figures = workingNames.map(family => ({ family, ...figuresOf(family, undefined, SERIES) }))

  test.each(figures)(
    'loses at most three quarters of the naive one: $family',
    ({ ofNaive, baselineOfNaive }) => {
      expect(ofNaive).toBeLessThanOrEqual(0.75)
      expect(ofNaive / baselineOfNaive).toBeLessThanOrEqual(1.02)
    },
  )

  test('loses less than the last eight same weekdays on the mean of all kinds', () => {
    const ratios = figures.map(({ ofNaive, baselineOfNaive }) => ofNaive / baselineOfNaive)
    expect(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toBeLessThanOrEqual(0.95)
  })

  test.each(figures)('holds as often as it says: $family', ({ family, coverage, above }) => {
    if (!hasZeros(family)) expect(coverage).toBeGreaterThanOrEqual(0.75)
    if (!hasZeros(family)) expect(coverage).toBeLessThanOrEqual(0.85)
    expect(above).toBeGreaterThanOrEqual(0.08)
    expect(above).toBeLessThanOrEqual(0.14)
  })

  test('estimates less of a monthly charge that was found by its rhythm, and holds as often', () => {
    const estimated = figures.find(({ family }) => family === 'monthly charge')
    const { ofNaive, coverage, above } = figuresOf('monthly charge', yearWithSubscription, SERIES)
    expect(ofNaive).toBeLessThanOrEqual((estimated?.ofNaive ?? 0) - 0.1)
    expect(coverage).toBeGreaterThanOrEqual(0.75)
    expect(coverage).toBeLessThanOrEqual(0.85)
    expect(above).toBeLessThanOrEqual(0.14)
  })

  test.each([
    [7, 60],
    [28, 30],
  ])('forecasts sums of %i days that hold in three of four cases at least', (days, apart) => {
    expect(coverageOfTotals('weekdays', days, apart)).toBeGreaterThanOrEqual(0.75)
  })
})

describe('the forecast of an agent that rests', () => {
  const FEW = 5

  test.each(restingNames)('loses less than the last eight same weekdays, and holds: %s', family => {
    const { ofNaive, baselineOfNaive, coverage, above } = figuresOf(family, undefined, FEW)
    expect(ofNaive / baselineOfNaive).toBeLessThanOrEqual(1.02)
    expect(coverage).toBeGreaterThanOrEqual(0.8)
    expect(above).toBeLessThanOrEqual(0.12)
  })

  test.each(irregularNames)(
    'is at most a tenth worse than the baselines where spending does not follow weekdays: %s',
    family => {
      const { ofNaive, baselineOfNaive } = figuresOf(family, undefined, FEW)
      expect(ofNaive / baselineOfNaive).toBeLessThanOrEqual(1.1)
    },
  )

  test('is nothing on each weekday at rest and never nothing on the others, whichever these are', () => {
    const weekdays = fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 6 })
    const amounts = fc.array(fc.integer({ min: 1_000, max: 3_000 }), { minLength: 28, maxLength: 200 })
    fc.assert(
      fc.property(weekdays, amounts, (working, each) => {
        // Asks the calendar, not the method.
        const works = (day: number): boolean => working.includes(new Date(day * 86_400_000).getUTCDay())
        const past = pastOf(each.map((cents, n) => (works(firstDay + n) ? cents : 0)))
        const { days } = forecastSpend(past, 14)
        const wrong = days.filter(({ date, p10, p90 }) => (works(dayNumber(date)) ? p10 <= 0 : p90 !== 0))
        expect(wrong).toEqual([])
      }),
      { numRuns: 30, seed: 13 },
    )
  })
})

describe('a forecast', () => {
  test('never crosses its quantiles and is never negative, for any past', () => {
    const cents = fc.array(fc.oneof(fc.constant(0), fc.nat(1_000_000)), { minLength: 7, maxLength: 200 })
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 90 }), (past, days) => {
        const outlook = forecastSpend(pastOf(past), days)
        expect(outlook.days).toHaveLength(days)
        const all = [...outlook.days, totalQuantiles(outlook.paths, days)]
        expect(all.filter(one => !isInOrder(one))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  test('of equal days is that day', () => {
    const { days, paths } = forecastSpend(allOf(182, 500), 3)
    for (const day of [...days, totalQuantiles(paths, 1)])
      expect([day.p10, day.p50, day.p90].map(Math.round)).toEqual([500, 500, 500])
  })

  test('of a single payment long ago is nearly nothing, and of nothing at all nothing', () => {
    const once = forecastSpend(pastOf([9_000, ...Array<number>(99).fill(0)]), 7)
    expect(once.days.map(({ p50 }) => p50)).toEqual(Array(7).fill(0))
    const { days, paths } = forecastSpend(allOf(60, 0), 7)
    expect(days.filter(({ p90 }) => p90 !== 0)).toEqual([])
    expect(totalQuantiles(paths, 7)).toEqual({ p10: 0, p50: 0, p90: 0 })
  })

  test('follows a level that doubles, and no single expensive day', () => {
    const doubled = forecastSpend(
      pastOf([...Array<number>(112).fill(500), ...Array<number>(56).fill(1_000)]),
      7,
    )
    expect(doubled.days.filter(({ p50 }) => p50 < 800)).toEqual([])
    const once = forecastSpend(pastOf([...Array<number>(180).fill(500), 1_000_000, 500]), 7)
    expect(once.days.filter(({ p50 }) => p50 > 1_000)).toEqual([])
  })

  test('has sums that are narrower than the sums of its days', () => {
    const { days, paths } = forecastSpend(yearOf('weekdays', 0), 30)
    const { p10, p90 } = totalQuantiles(paths, 30)
    const sumOf = (name: keyof Quantiles): number => days.reduce((sum, day) => sum + day[name], 0)
    expect(p10).toBeGreaterThan(sumOf('p10'))
    expect(p90).toBeLessThan(sumOf('p90'))
  })
})

test('the quantiles of a sample are those of its middle, and its ends where it is small', () => {
  const same = () => 1
  expect(sampleQuantiles([3, 1, 2], same)).toEqual({ p10: 1, p50: 2, p90: 3 })
  const nine = sampleQuantiles([9, 8, 7, 6, 5, 4, 3, 2, 1], same)
  expect([nine.p10, nine.p50, nine.p90].map(each => each.toFixed(6))).toEqual([
    '1.000000',
    '5.000000',
    '9.000000',
  ])
  // The middles of the two weights are at 1 and at 6 of 11.
  expect(sampleQuantiles([2, 1], place => [9, 1][place] ?? 0).p50).toBeCloseTo(1.9)
  expect(sampleQuantiles([], same)).toEqual({ p10: 0, p50: 0, p90: 0 })
})

describe('the day on which an amount is used up', () => {
  const paths = [1, 2, 5, 10, 20].map(cents => new Float64Array(10).fill(cents))

  test('is the one on which the paths reach it, or none', () => {
    const dates = estimateDepletionDates(paths, 10, firstDay, 10)
    expect(dates).toEqual({ p10: '2026-01-01', p50: '2026-01-02', p90: '2026-01-10' })
    expect(estimateDepletionDates(paths, 10, firstDay, 4)).toEqual({
      p10: '2026-01-01',
      p50: '2026-01-02',
      p90: null,
    })
    expect(estimateDepletionDates(paths, 1_000, firstDay, 10)).toEqual({ p10: null, p50: null, p90: null })
  })

  test('is today where nothing is left', () => {
    expect(estimateDepletionDates(paths, 0, firstDay, 10)).toEqual({
      p10: '2026-01-01',
      p50: '2026-01-01',
      p90: '2026-01-01',
    })
  })
})
