/** Asks once for each name. Of many names all are forgotten together: those in use are soon known again. */
export function boundedCache<T>(ask: (name: string) => T, most = 1_000): (name: string) => T {
  const memory = weightedCache<T>(most, () => 1)
  return name => memory(name, () => ask(name))
}

/** The same where some answers take more memory than others: all that are known weigh so much together at most. */
export function weightedCache<T>(most: number, weightOf: (answer: T) => number) {
  const known = new Map<string, T>()
  let weight = 0
  return (name: string, ask: () => T): T => {
    if (known.has(name)) return known.get(name) as T
    const answer = ask()
    const added = weightOf(answer)
    if (weight + added > most) {
      known.clear()
      weight = 0
    }
    weight += added
    known.set(name, answer)
    return answer
  }
}
