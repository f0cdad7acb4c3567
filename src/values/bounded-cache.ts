/** Computes each key once. At the bound the whole cache is emptied: keys in use are soon computed again. */
export function memoizeBounded<T>(compute: (key: string) => T, maxEntries = 1_000): (key: string) => T {
  const cached = memoizeByWeight<T>(maxEntries, () => 1)
  return key => cached(key, () => compute(key))
}

/** Bounded by the total weight of its values, for values of very different size. */
export function memoizeByWeight<T>(maxWeight: number, weightOf: (value: T) => number) {
  const values = new Map<string, T>()
  let totalWeight = 0
  return (key: string, compute: () => T): T => {
    if (values.has(key)) return values.get(key) as T
    const value = compute()
    const weight = weightOf(value)
    if (totalWeight + weight > maxWeight) {
      values.clear()
      totalWeight = 0
    }
    totalWeight += weight
    values.set(key, value)
    return value
  }
}
