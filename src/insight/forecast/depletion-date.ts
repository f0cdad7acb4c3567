import { dateOfDay } from './method/days.ts'
import type { SimulatedPath } from './method/paths.ts'
import { QUANTILE_LEVELS, quantileNames } from './method/quantiles.ts'

/** The amount is used up by `p10` in one of ten paths, by `p50` in half of them, by `p90` in nine of ten. */
interface DepletionDates {
  readonly p10: string | null
  readonly p50: string | null
  readonly p90: string | null
}

const NEVER = Number.POSITIVE_INFINITY

function depletedAfter(path: SimulatedPath, cents: number, days: number): number {
  let spent = 0
  for (let n = 0; n < Math.min(days, path.length); n++) {
    spent += path[n] as number
    if (spent >= cents) return n
  }
  return NEVER
}

export function estimateDepletionDates(
  paths: readonly SimulatedPath[],
  cents: number,
  first: number,
  days: number,
): DepletionDates {
  const places = paths.map(path => depletedAfter(path, cents, days)).sort((one, other) => one - other)
  const at = (level: number): string | null => {
    const place = places[Math.max(0, Math.ceil(places.length * level) - 1)] ?? NEVER
    return place === NEVER ? null : dateOfDay(first + place)
  }
  const [p10, p50, p90] = quantileNames.map(name => at(QUANTILE_LEVELS[name]))
  return { p10: p10 ?? null, p50: p50 ?? null, p90: p90 ?? null }
}
