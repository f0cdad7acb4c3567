/** `/agents/{id}/tokens/{tokenId}` gives `id | tokenId`. */
export type PathParameterName<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameterName<Rest>
  : never

/** Other beginnings of a path: `accounts` for `wallets` leads to the same operations and records. */
export type PathAliases = Readonly<Record<string, string>>

/** Every path of an operation: bare and under `/v1` (but for well-known ones), by its own name and by its alias. */
export function operationAddresses(path: string, aliases: PathAliases = {}): string[] {
  // RFC 8615: well-known addresses belong to the host and have no prefix.
  if (path.startsWith('/.well-known/')) return [path]
  const bare = path.startsWith('/v1/') ? path.slice(3) : path
  const [name, alias] =
    Object.entries(aliases).find(([own]) => `${bare}/`.startsWith(`/${own}/`)) ?? ([] as const)
  const spellings = name && alias ? [bare, `/${alias}${bare.slice(name.length + 1)}`] : [bare]
  return spellings.flatMap(spelling => [spelling, `/v1${spelling}`])
}
