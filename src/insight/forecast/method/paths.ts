import { type Quantiles, sampleQuantiles } from './quantiles.ts'
import { bounded, scaleOf, type Weeks } from './weekdays.ts'

/** One way in which the days ahead may go: what is spent on each, in cents. */
export type SimulatedPath = Float64Array

/** A month that follows a level shows how far the level moves. */
const MOST_WEEKS = 4

/** Days that followed each other at the level of now, and by how much the level has moved within them. */
interface Block {
  readonly cents: readonly number[]
  readonly growth: number
}

/**
 * Paths made of weeks that followed each other. They are scaled by the level before them, all that a forecast of them knew: so a path is as
 * much too high or too low as forecasts have been. The next block begins at the level at which the one before it has ended.
 */
export function pathsOfWeeks(weeks: Weeks, days: number): SimulatedPath[] {
  const { length } = weeks.cents
  const span = Math.max(1, Math.min(MOST_WEEKS, Math.floor(length / 4)))
  const blocks = Array.from({ length: length - span + 1 }, (_, first) => {
    const scale = scaleOf(weeks, Math.max(0, first - 1))
    const cents = weeks.cents.slice(first, first + span).flatMap(week => week.map(each => scale * each))
    const growth = span === MOST_WEEKS ? scale / scaleOf(weeks, first + span - 1) : 1
    return { cents, growth }
  })
  return pathsOf(blocks, days, blocks.length)
}

/** Paths of a few known days: each repeats a quarter of them, so the paths lie as far apart as little knowledge demands. */
export const pathsOfFewDays = (known: readonly number[], days: number): SimulatedPath[] =>
  pathsOf(
    known.map(cents => ({ cents: [cents], growth: 1 })),
    days,
    Math.max(2, Math.floor(known.length / 4)),
  )

/** A path from each block, by each step from one block to the next; `most` different blocks are in one path. */
function pathsOf(blocks: readonly Block[], days: number, most: number): SimulatedPath[] {
  const pathOf = (first: number, step: number): SimulatedPath => {
    const path = new Float64Array(days)
    let level = 1
    for (let day = 0, n = 0; day < days; n++) {
      const { cents, growth } = blocks[(first + step * (n % most)) % blocks.length] as Block
      for (const each of cents.slice(0, days - day)) path[day++] = level * each
      level = bounded(level * growth)
    }
    return path
  }
  return blocks.flatMap((_, first) => blocks.map((_, step) => pathOf(first, step)))
}

/** What each path comes to in its first days, in cents. */
export const totalsOf = (paths: readonly SimulatedPath[], days: number): number[] =>
  paths.map(path => path.subarray(0, days).reduce((sum, cents) => sum + cents, 0))

/** The quantiles of the sum of the first days. The paths from one block are one observation: there are as many as blocks. */
export function totalOf(paths: readonly SimulatedPath[], days: number): Quantiles {
  const weight = 1 / Math.sqrt(paths.length)
  return sampleQuantiles(totalsOf(paths, days), () => weight)
}
