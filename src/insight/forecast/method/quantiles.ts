/** In cents: one case of ten is below `p10`, one of ten above `p90`. */
export interface Quantiles {
  readonly p10: number
  readonly p50: number
  readonly p90: number
}

export const QUANTILE_LEVELS = { p10: 0.1, p50: 0.5, p90: 0.9 } as const

export const quantileNames = ['p10', 'p50', 'p90'] as const

export const shiftQuantiles = (known: number, { p10, p50, p90 }: Quantiles): Quantiles => ({
  p10: p10 + known,
  p50: p50 + known,
  p90: p90 + known,
})

const between = (low: number, high: number, part: number): number => low + (high - low) * part

export function interpolateQuantile(ascending: ArrayLike<number>, level: number): number {
  const place = (ascending.length - 1) * level
  const lower = Math.floor(place)
  const value = ascending[lower] ?? 0
  return between(value, ascending[lower + 1] ?? value, place - lower)
}

/**
 * Quantiles of the population of which these values are a weighted sample. Values of weight 1 divide it into
 * equal parts, one more than there are values, so that few values spread wider than their range (Hyndman and
 * Fan's type 6).
 */
export function sampleQuantiles(values: ArrayLike<number>, weightOf: (place: number) => number): Quantiles {
  const sample = Array.from(values, (value, place) => ({ value, weight: weightOf(place) }))
  sample.sort((one, other) => one.value - other.value)
  const whole = sample.reduce((sum, { weight }) => sum + weight, 1)
  let before = 1 / 2
  const positions = sample.map(({ weight }) => {
    const middle = (before + weight / 2) / whole
    before += weight
    return middle
  })
  const at = (level: number): number => {
    const upper = positions.findIndex(position => position >= level)
    if (upper === -1) return sample.at(-1)?.value ?? 0
    const high = sample[upper]?.value ?? 0
    const lower = positions[upper - 1] ?? 0
    const part = (level - lower) / ((positions[upper] as number) - lower)
    return between(sample[upper - 1]?.value ?? high, high, part)
  }
  return { p10: at(QUANTILE_LEVELS.p10), p50: at(QUANTILE_LEVELS.p50), p90: at(QUANTILE_LEVELS.p90) }
}

/** Pinball loss: spending above a high quantile costs more than spending below it. */
export function pinballLoss(forecast: Quantiles, actual: number): number {
  let sum = 0
  for (const name of quantileNames) {
    const error = actual - forecast[name]
    sum += error >= 0 ? QUANTILE_LEVELS[name] * error : (QUANTILE_LEVELS[name] - 1) * error
  }
  return sum / quantileNames.length
}
