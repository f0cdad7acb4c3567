import { type Quantiles, sampleQuantiles } from './quantiles.ts'
import { boundedScale, type WeeklySpend, weekScale } from './weekdays.ts'

export type SimulatedPath = Float64Array

const MOST_WEEKS = 4

/** Consecutive days scaled to the present level, and how far the level has moved within them. */
interface Block {
  readonly cents: readonly number[]
  readonly growth: number
}

/**
 * Paths of consecutive weeks, scaled by the level before them, which is all that a forecast at that time
 * knew, so a path is too high or too low by as much as past forecasts were. The next block begins at the
 * level at which the previous one ended.
 */
export function simulateWeeklyPaths(weeks: WeeklySpend, days: number): SimulatedPath[] {
  const { length } = weeks.cents
  const span = Math.max(1, Math.min(MOST_WEEKS, Math.floor(length / 4)))
  const blocks = Array.from({ length: length - span + 1 }, (_, first) => {
    const scale = weekScale(weeks, Math.max(0, first - 1))
    const cents = weeks.cents.slice(first, first + span).flatMap(week => week.map(each => scale * each))
    const growth = span === MOST_WEEKS ? scale / weekScale(weeks, first + span - 1) : 1
    return { cents, growth }
  })
  return pathsOf(blocks, days, blocks.length)
}

/** Each path repeats a quarter of the few known days, so that the spread reflects how little is known. */
export const simulateSparsePaths = (known: readonly number[], days: number): SimulatedPath[] =>
  pathsOf(
    known.map(cents => ({ cents: [cents], growth: 1 })),
    days,
    Math.max(2, Math.floor(known.length / 4)),
  )

/** One path for each block and each step from block to block, of at most `most` different blocks. */
function pathsOf(blocks: readonly Block[], days: number, most: number): SimulatedPath[] {
  const pathOf = (first: number, step: number): SimulatedPath => {
    const path = new Float64Array(days)
    let level = 1
    for (let day = 0, n = 0; day < days; n++) {
      const { cents, growth } = blocks[(first + step * (n % most)) % blocks.length] as Block
      for (const each of cents.slice(0, days - day)) path[day++] = level * each
      level = boundedScale(level * growth)
    }
    return path
  }
  return blocks.flatMap((_, first) => blocks.map((_, step) => pathOf(first, step)))
}

export const pathTotals = (paths: readonly SimulatedPath[], days: number): number[] =>
  paths.map(path => path.subarray(0, days).reduce((sum, cents) => sum + cents, 0))

/**
 * Quantiles of the sum of the first days. Paths that start at the same block are one observation, so there
 * are as many as blocks.
 */
export function totalQuantiles(paths: readonly SimulatedPath[], days: number): Quantiles {
  const weight = 1 / Math.sqrt(paths.length)
  return sampleQuantiles(pathTotals(paths, days), () => weight)
}
