/** The most bytes a page may have. Only a single record that is larger than that is sent all the same. */
export const PAGE_BYTES = 524_288

/** How many rows the first query of a page reads, unless the caller says fewer. */
const FIRST = 21

export interface PageRequest<T> {
  /** Reads at most `most` rows after the row with the key `after`. */
  readonly read: (after: string | undefined, most: number) => Promise<T[]>
  readonly keyOf: (row: T) => string
  readonly after: string | undefined
  readonly limit: number
  readonly first?: number | undefined
}

export interface PageRows<T> {
  readonly rows: T[]
  readonly hasMore: boolean
}

/** Reads the rows of one page: `limit`, or as many as fit. Each query's size follows the row size seen so far. */
export async function readPage<T>({
  read,
  keyOf,
  limit,
  first = FIRST,
  ...start
}: PageRequest<T>): Promise<PageRows<T>> {
  const rows: T[] = []
  let [after, bytes, most] = [start.after, 0, Math.min(first, limit + 1)]
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

/** How many of these rows fit into a page, at least one. */
function roomFor(rows: readonly unknown[]): number {
  let bytes = 0
  const tooMany = rows.findIndex(row => {
    bytes += sizeOf(row)
    return bytes > PAGE_BYTES
  })
  return tooMany === -1 ? rows.length : Math.max(tooMany, 1)
}

/** Estimates the bytes of a value as JSON. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 8)
}
