/** The place that a random number from 0 up to 1 hits, by the running sums of the weights; 0 where there are none. */
export function drawnPlace(sums: readonly number[], at: number): number {
  const sought = at * (sums.at(-1) ?? 0)
  let [low, high] = [0, Math.max(0, sums.length - 1)]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] as number) > sought) high = middle
    else low = middle + 1
  }
  return low
}
