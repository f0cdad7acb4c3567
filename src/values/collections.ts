export function requireFirst<T>(list: readonly T[]): T {
  const [member] = list
  if (member === undefined) throw new Error('a list without a first member')
  return member
}

export const keysOf = <K extends string>(table: { readonly [Key in K]?: unknown }) =>
  Object.keys(table) as [K, ...K[]]
