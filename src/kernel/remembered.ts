/** Asks once for each name. Of many names all are forgotten together: those in use are soon known again. */
export function remembered<T>(ask: (name: string) => T, most = 1_000): (name: string) => T {
  const known = new Map<string, T>()
  return name => {
    if (known.has(name)) return known.get(name) as T
    const answer = ask(name)
    if (known.size >= most) known.clear()
    known.set(name, answer)
    return answer
  }
}
