import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { totalsOf } from '../../../src/insight/forecast/method/courses.ts'
import { type DailySpend, dayNumber } from '../../../src/insight/forecast/method/days.ts'
import { type Quantiles, quantilesOf } from '../../../src/insight/forecast/method/quantiles.ts'
import { outlookOf } from '../../../src/insight/forecast/outlook.ts'
import { runsOut } from '../../../src/insight/forecast/response.ts'
import {
  hasZeros,
  irregularNames,
  restingNames,
  workingNames,
  yearWithSubscription,
} from '../../support/insight/families.ts'
import { coverageOfTotals, figuresOf } from '../../support/insight/figures.ts'

const firstDay = dayNumber('2026-01-01')
const pastOf = (cents: readonly number[]): DailySpend => ({ firstDay, cents })
const allOf = (days: number, cents: number): DailySpend => pastOf(Array<number>(days).fill(cents))

const isInOrder = ({ p10, p50, p90 }: Quantiles): boolean =>
  [p10, p50, p90].every(Number.isFinite) && p10 >= 0 && p10 <= p50 && p50 <= p90

describe('the forecast beside its rivals, on series of six kinds', () => {
  /** Half of those of the bench: the figures are the same to two digits. */
  const SERIES = 10
  const figures = workingNames.map(family => ({ family, ...figuresOf(family, undefined, SERIES) }))

  test.each(figures)(
    'loses at most three quarters of the naive one: $family',
    ({ poolOfNaive, rivalOfNaive }) => {
      expect(poolOfNaive).toBeLessThanOrEqual(0.75)
      expect(poolOfNaive / rivalOfNaive).toBeLessThanOrEqual(1.02)
    },
  )

  test('loses less than the last eight same weekdays on the mean of all kinds', () => {
    const ratios = figures.map(({ poolOfNaive, rivalOfNaive }) => poolOfNaive / rivalOfNaive)
    expect(ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length).toBeLessThanOrEqual(0.95)
  })

  test.each(figures)('holds as often as it says: $family', ({ family, coverage, above }) => {
    if (!hasZeros(family)) expect(coverage).toBeGreaterThanOrEqual(0.75)
    if (!hasZeros(family)) expect(coverage).toBeLessThanOrEqual(0.85)
    expect(above).toBeGreaterThanOrEqual(0.08)
    expect(above).toBeLessThanOrEqual(0.14)
  })

  test('guesses less of a monthly charge that was found by its rhythm, and holds as often', () => {
    const guessed = figures.find(({ family }) => family === 'monthly charge')
    const { ofNaive, coverage, above } = figuresOf('monthly charge', yearWithSubscription, SERIES)
    expect(ofNaive).toBeLessThanOrEqual((guessed?.ofNaive ?? 0) - 0.1)
    expect(coverage).toBeGreaterThanOrEqual(0.75)
    expect(coverage).toBeLessThanOrEqual(0.85)
    expect(above).toBeLessThanOrEqual(0.14)
  })

  test('tells sums of a week that hold in three of four cases at least', async () => {
    expect(await coverageOfTotals('weekdays', 7, 60)).toBeGreaterThanOrEqual(0.75)
  })
})

describe('the forecast of an agent that rests', () => {
  const FEW = 5

  test.each(restingNames)('loses less than the last eight same weekdays, and holds: %s', family => {
    const { poolOfNaive, rivalOfNaive, coverage, above } = figuresOf(family, undefined, FEW)
    expect(poolOfNaive / rivalOfNaive).toBeLessThanOrEqual(1.02)
    expect(coverage).toBeGreaterThanOrEqual(0.8)
    expect(above).toBeLessThanOrEqual(0.12)
  })

  test.each(irregularNames)(
    'never loses more than its rival, which is used where it is better: %s',
    family => {
      const { ofNaive, poolOfNaive, rivalOfNaive } = figuresOf(family, undefined, FEW)
      expect(ofNaive).toBeLessThanOrEqual(Math.min(poolOfNaive, rivalOfNaive) + 1e-3)
    },
  )

  test('is nothing on each weekday at rest and never nothing on the others, whichever these are', async () => {
    const weekdays = fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 6 })
    const amounts = fc.array(fc.integer({ min: 1_000, max: 3_000 }), { minLength: 28, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(weekdays, amounts, async (working, each) => {
        // The calendar is asked, not the method.
        const works = (day: number): boolean => working.includes(new Date(day * 86_400_000).getUTCDay())
        const past = pastOf(each.map((cents, n) => (works(firstDay + n) ? cents : 0)))
        const { days } = await outlookOf(past, 14, 'a seed')
        const wrong = days.filter(({ date, p10, p90 }) => (works(dayNumber(date)) ? p10 <= 0 : p90 !== 0))
        expect(wrong).toEqual([])
      }),
      { numRuns: 30, seed: 13 },
    )
  })
})

describe('a forecast', () => {
  test('never crosses its quantiles and never goes below nothing, whatever the past', async () => {
    const cents = fc.array(fc.oneof(fc.constant(0), fc.nat(1_000_000)), { minLength: 7, maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(cents, fc.integer({ min: 1, max: 90 }), async (past, days) => {
        const outlook = await outlookOf(pastOf(past), days, 'a seed')
        const total = quantilesOf(totalsOf(outlook.draw(days), days))
        expect(outlook.days).toHaveLength(days)
        expect([...outlook.days, total].filter(one => !isInOrder(one))).toEqual([])
      }),
      { numRuns: 40 },
    )
  })

  test('of equal days is that day', async () => {
    const { days, draw } = await outlookOf(allOf(182, 500), 3, 'a seed')
    for (const day of [...days, quantilesOf(draw(3).map(([first = 0]) => first))])
      expect([day.p10, day.p50, day.p90].map(Math.round)).toEqual([500, 500, 500])
  })

  test('of a single payment long ago is nearly nothing, and of nothing at all nothing', async () => {
    const once = await outlookOf(pastOf([9_000, ...Array<number>(99).fill(0)]), 7, 'a seed')
    expect(once.days.map(({ p50 }) => p50)).toEqual(Array(7).fill(0))
    const { days, draw } = await outlookOf(allOf(60, 0), 7, 'a seed')
    expect(days.filter(({ p90 }) => p90 !== 0)).toEqual([])
    expect(quantilesOf(totalsOf(draw(7), 7))).toEqual({ p10: 0, p50: 0, p90: 0 })
  })

  test('is the same for the same past and seed, and drawn anew for another seed', async () => {
    const past = pastOf(Array.from({ length: 90 }, (_, n) => (n * 7_919) % 1_000))
    const totals = async (seed: string) => totalsOf((await outlookOf(past, 30, seed)).draw(30), 30)
    expect(await totals('one')).toEqual(await totals('one'))
    expect(await totals('one')).not.toEqual(await totals('other'))
  })
})

describe('what runs out', () => {
  const courses = [1, 2, 5, 10, 20].map(cents => new Float64Array(10).fill(cents))

  test('does so on the day on which the courses reach it, or not at all', () => {
    const dates = runsOut(courses, 10, firstDay, 10)
    expect(dates).toEqual({ p10: '2026-01-01', p50: '2026-01-02', p90: '2026-01-10' })
    expect(runsOut(courses, 10, firstDay, 4)).toEqual({ p10: '2026-01-01', p50: '2026-01-02', p90: null })
    expect(runsOut(courses, 1_000, firstDay, 10)).toEqual({ p10: null, p50: null, p90: null })
  })

  test('has run out today where nothing is left', () => {
    expect(runsOut(courses, 0, firstDay, 10)).toEqual({
      p10: '2026-01-01',
      p50: '2026-01-01',
      p90: '2026-01-01',
    })
  })
})
