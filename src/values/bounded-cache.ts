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

interface SharedEntry<T> {
  readonly ownerId: string
  readonly value: T
}

/** Values that owners share, the least recently used of which are forgotten: an owner who adds many displaces only its own. */
export class SharedCache<T> {
  readonly #most: number
  readonly #mostOfOne: number
  /** The least recently used one is first. */
  readonly #entries = new Map<string, SharedEntry<T>>()

  constructor({ most, mostOfOne }: { readonly most: number; readonly mostOfOne: number }) {
    this.#most = most
    this.#mostOfOne = mostOfOne
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key)
    if (!entry) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  set(key: string, value: T, ownerId: string): void {
    this.#entries.delete(key)
    const own = [...this.#entries].filter(([, entry]) => entry.ownerId === ownerId)
    const [oldest] =
      own.length >= this.#mostOfOne ? own : this.#entries.size >= this.#most ? this.#entries : []
    if (oldest) this.#entries.delete(oldest[0])
    this.#entries.set(key, { ownerId, value })
  }

  /** Deletes the value, unless another one has taken its place. */
  delete(key: string, value: T): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key)
  }
}
