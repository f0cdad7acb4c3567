/** How many usual deviations are unusual: by chance not one of a thousand amounts lies so far out. */
export const MAX_DEVIATIONS = 6
/** Makes the median of deviations comparable with a standard deviation. */
const MEDIAN_TO_STANDARD = 1.4826
/** Least deviation, as a share of the usual amount: else a cent more is unusual where all amounts are the same. */
export const MIN_DEVIATION_SHARE = 0.2

export const medianOf = (numbers: readonly number[]): number => {
  // A typed array sorts by number, ten times as fast as an array with a comparison.
  const sorted = new Float64Array(numbers).sort()
  const half = sorted.length >> 1
  const [low, high] = [sorted[half - 1] ?? 0, sorted[half] ?? 0]
  return sorted.length % 2 === 1 ? high : (low + high) / 2
}

/** How far amounts usually lie from their median: a few great ones do not change it. */
export const deviationOf = (amounts: readonly number[], usual: number): number =>
  Math.max(
    MEDIAN_TO_STANDARD * medianOf(amounts.map(amount => Math.abs(amount - usual))),
    MIN_DEVIATION_SHARE * usual,
  )

/** The same in the database, over the rows of a group: what is looked at there never leaves it. */
export const medianInSql = (amount: string): string =>
  `percentile_cont(0.5) within group (order by ${amount})`

export const deviationInSql = (amount: string, usual: string): string =>
  `greatest(${MEDIAN_TO_STANDARD} * ${medianInSql(`abs(${amount} - ${usual})`)}, ${MIN_DEVIATION_SHARE} * ${usual})`
