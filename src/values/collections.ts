/** The first member of a list that has one. */
export function first<T>(list: readonly T[]): T {
  const [member] = list
  if (member === undefined) throw new Error('a list without a first member')
  return member
}

/** The names of the members that a table or record has, as their type says: `Object.keys` types them as text. */
export const keysOf = <K extends string>(table: { readonly [Key in K]?: unknown }) =>
  Object.keys(table) as [K, ...K[]]
