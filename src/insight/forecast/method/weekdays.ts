import type { DailySpend } from './days.ts'
import { type Quantiles, sampleQuantiles } from './quantiles.ts'

const WEEKS = 26
const HALF_LIFE = 13
/** In weeks. The level moves faster than the shape of a week. */
const LEVEL_HALF_LIFE = 3
/** Added to each level, as a part of the mean week, since a level of zero would give no ratio. */
const LEVEL_FLOOR = 0.1
/** One expensive week scales the others by at most this factor. */
const MOST_SCALED = 2

const decayOf = (halfLife: number): number => 2 ** (-1 / halfLife)
const DECAY = decayOf(HALF_LIFE)
const LEVEL_DECAY = decayOf(LEVEL_HALF_LIFE)

export interface WeeklySpend {
  readonly cents: readonly (readonly number[])[]
  readonly levels: readonly number[]
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

export function weeklySpendBefore(end: number, { firstDay, cents }: DailySpend): WeeklySpend {
  const known = end - firstDay
  const count = Math.min(WEEKS, Math.floor(known / 7))
  const first = known - 7 * count
  const weeks = Array.from({ length: count }, (_, n) => cents.slice(first + 7 * n, first + 7 * (n + 1)))
  return { cents: weeks, levels: levelsOf(weeks.map(sumOf)) }
}

function levelsOf(weeks: readonly number[]): number[] {
  const floor = (LEVEL_FLOOR * sumOf(weeks)) / weeks.length
  let [sum, weight] = [0, 0]
  return weeks.map(cents => {
    sum = sum * LEVEL_DECAY + cents
    weight = weight * LEVEL_DECAY + 1
    return floor + sum / weight
  })
}

export const boundedScale = (scale: number): number => Math.min(MOST_SCALED, Math.max(1 / MOST_SCALED, scale))

export function weekScale({ levels }: WeeklySpend, week: number): number {
  const level = levels[week] ?? 0
  return level === 0 ? 1 : boundedScale((levels.at(-1) ?? 0) / level)
}

/** Forecast of the day `ahead` days from now (0 is the first): quantiles of the same weekday in past weeks. */
export function forecastWeekday(weeks: WeeklySpend, ahead: number): Quantiles {
  const { cents } = weeks
  const sameWeekday = cents.map((week, n) => weekScale(weeks, n) * (week[ahead % 7] as number))
  return sampleQuantiles(sameWeekday, n => DECAY ** (cents.length - 1 - n))
}
