/** The three values of a forecast: in one of ten cases it is less than the first, in one of ten more than the last. */
export interface Quantiles {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

export const LEVELS = { p10: 0.1, p50: 0.5, p90: 0.9 } as const

/** With an amount that is known beside what is guessed. */
export const raisedBy = (known: number, { p10, p50, p90 }: Quantiles): Quantiles => ({
  p10: p10 + known,
  p50: p50 + known,
  p90: p90 + known,
})

export const quantileNames = ['p10', 'p50', 'p90'] as const

const between = (low: number, high: number, part: number): number => low + (high - low) * part

/** The quantile of values in ascending order, between two of them in a straight line; 0 where there are none. */
export function quantileOf(ascending: ArrayLike<number>, level: number): number {
  const place = (ascending.length - 1) * level
  const lower = Math.floor(place)
  const value = ascending[lower] ?? 0
  return between(value, ascending[lower + 1] ?? value, place - lower)
}

/** The quantiles of values in any order, all equally probable. */
export function quantilesOf(values: Iterable<number>): Quantiles {
  const ascending = Float64Array.from(values).sort()
  return {
    p10: quantileOf(ascending, LEVELS.p10),
    p50: quantileOf(ascending, LEVELS.p50),
    p90: quantileOf(ascending, LEVELS.p90),
  }
}

/**
 * Quantiles of weighted values in ascending order, at levels in ascending order. Each value stands in the middle of its
 * weight; between two values it goes in a straight line.
 */
export function weightedQuantiles(
  ascending: ArrayLike<number>,
  weights: ArrayLike<number>,
  levels: readonly number[],
): number[] {
  let whole = 0
  for (let n = 0; n < weights.length; n++) whole += weights[n] as number
  const found: number[] = []
  let before = 0
  let [lastMiddle, lastValue] = [0, ascending[0] ?? 0]
  for (let n = 0; n < ascending.length && found.length < levels.length; n++) {
    const value = ascending[n] as number
    const middle = (before + (weights[n] as number) / 2) / whole
    for (
      let level = levels[found.length];
      level !== undefined && level <= middle;
      level = levels[found.length]
    ) {
      const part = middle > lastMiddle ? (level - lastMiddle) / (middle - lastMiddle) : 1
      found.push(between(lastValue, value, part))
    }
    before += weights[n] as number
    lastMiddle = middle
    lastValue = value
  }
  while (found.length < levels.length) found.push(lastValue)
  return found
}

/** How bad a forecast was: what was more than a high quantile costs much, what was less costs little. */
export function pinballLoss(forecast: Quantiles, actual: number): number {
  let sum = 0
  for (const name of quantileNames) {
    const error = actual - forecast[name]
    sum += error >= 0 ? LEVELS[name] * error : (LEVELS[name] - 1) * error
  }
  return sum / quantileNames.length
}
