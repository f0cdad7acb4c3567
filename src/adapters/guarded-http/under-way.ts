/** Counts what is under way by origin, so that a slow host does not hold what others need. */
export function underWay() {
  const counts = new Map<string, number>()
  return {
    /** Undefined where as many are under way already. */
    async within<T>(origin: string, most: number, work: () => Promise<T>): Promise<T | undefined> {
      const count = counts.get(origin) ?? 0
      if (count >= most) return undefined
      counts.set(origin, count + 1)
      try {
        return await work()
      } finally {
        const left = (counts.get(origin) ?? 1) - 1
        if (left === 0) counts.delete(origin)
        else counts.set(origin, left)
      }
    },
  }
}
