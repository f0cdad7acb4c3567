/** How far a normal variable strays in 95 of 100 cases. */
const Z = 1.959963984540054

/** A share that was found in a sample, and between which two shares the true one lies in 95 of 100 cases. */
export interface Rate {
  readonly rate: number
  readonly low: number
  readonly high: number
}

const fourDecimals = (share: number): number => Math.round(share * 10_000) / 10_000

/** The interval of Wilson: it stays between 0 and 1, and is honest about few cases. Null where there is none. */
export function rateOf(successes: number, trials: number): Rate | null {
  if (trials === 0) return null
  const rate = successes / trials
  const square = (Z * Z) / trials
  const centre = (rate + square / 2) / (1 + square)
  const reach = (Z / (1 + square)) * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials))
  const low = successes === 0 ? 0 : centre - reach
  const high = successes === trials ? 1 : centre + reach
  return { rate: fourDecimals(rate), low: fourDecimals(low), high: fourDecimals(high) }
}
