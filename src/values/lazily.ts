/** Finds it when it is first asked for, and then keeps it. */
export function lazily<T>(find: () => T): () => T {
  let found: T | undefined
  return () => {
    found ??= find()
    return found
  }
}
