/** The names in braces: `/agents/{id}/tokens/{tokenId}` gives `id | tokenId`. */
export type PathParam<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParam<Rest>
  : never

/** Other names for the first part of an address: `accounts` for `wallets` leads to the same operations and records. */
export type Aliases = Readonly<Record<string, string>>

/** Every address of an operation: bare and under `/v1`, save for well-known ones, by its own name and by its alias. */
export function addressesOf(path: string, aliases: Aliases = {}): string[] {
  // RFC 8615: well-known addresses are those of the host, and have no prefix.
  if (path.startsWith('/.well-known/')) return [path]
  const bare = path.startsWith('/v1/') ? path.slice(3) : path
  const [, first = ''] = bare.split('/')
  const alias = aliases[first]
  const spellings = alias ? [bare, `/${alias}${bare.slice(first.length + 1)}`] : [bare]
  return spellings.flatMap(spelling => [spelling, `/v1${spelling}`])
}
