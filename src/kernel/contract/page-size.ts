/** So large a page is at most, in bytes; only a single record that has more by itself is sent all the same. */
export const PAGE_BYTES = 524_288

/** So many rows are read at first, where nothing says that they are large. */
const FIRST = 21

export interface Reading<T> {
  /** So many at most that come after this one. */
  readonly read: (after: string | undefined, most: number) => Promise<T[]>
  readonly keyOf: (row: T) => string
  readonly after: string | undefined
  readonly limit: number
  readonly first?: number | undefined
}

export interface Rows<T> {
  readonly rows: T[]
  readonly hasMore: boolean
}

/** The rows of one page: `limit` of them, or as many as a page has room for. They are read by how large they prove. */
export async function readPage<T>({
  read,
  keyOf,
  limit,
  first = FIRST,
  ...from
}: Reading<T>): Promise<Rows<T>> {
  const rows: T[] = []
  let [after, bytes, most] = [from.after, 0, Math.min(first, limit + 1)]
  for (;;) {
    const more = await read(after, most)
    rows.push(...more)
    bytes += sizeOf(more)
    const wanted = limit + 1 - rows.length
    if (more.length < most || wanted === 0 || bytes > PAGE_BYTES) break
    after = keyOf(rows.at(-1) as T)
    most = Math.min(wanted, Math.ceil((PAGE_BYTES * rows.length) / bytes))
  }
  const fitting = rows.slice(0, Math.min(limit, roomFor(rows)))
  return { rows: fitting, hasMore: fitting.length < rows.length }
}

/** How many of these a page has room for, and one at least. */
function roomFor(rows: readonly unknown[]): number {
  let bytes = 0
  const tooMany = rows.findIndex(row => {
    bytes += sizeOf(row)
    return bytes > PAGE_BYTES
  })
  return tooMany === -1 ? rows.length : Math.max(tooMany, 1)
}

/** About so many bytes it has as JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 8)
}
