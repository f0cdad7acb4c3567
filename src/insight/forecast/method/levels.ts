import type { Quantiles } from './quantiles.ts'

/** The parts of the pool that are to lie below the first and above the last quantile, as they have proved right. */
export interface Tails {
  readonly below: number
  readonly above: number
}

export const FIRST_TAILS: Tails = { below: 0.1, above: 0.1 }

/** How far a day moves them. */
const STEP = 0.01
const AIM = 0.1
const LEAST = 0.02
/** With many zeros nothing is ever below: the first quantile stops here. */
const MOST_BELOW = 0.25
const MOST_ABOVE = 0.3

const within = (most: number, value: number): number => Math.min(most, Math.max(LEAST, value))

/**
 * Moves the outer quantiles by whether they held (adaptive conformal inference): one that is missed goes a good deal
 * outwards, one that holds a little inwards, so that in the long run each is missed on one day of ten.
 */
export const adapted = ({ below, above }: Tails, { p10, p90 }: Quantiles, actual: number): Tails => ({
  below: within(MOST_BELOW, below + STEP * (AIM - Number(actual < p10))),
  above: within(MOST_ABOVE, above + STEP * (AIM - Number(actual > p90))),
})
