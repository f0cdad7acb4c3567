import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

export const digitsAsNumber = <T extends z.ZodType>(number: T) =>
  z.preprocess(value => (/^\d{1,9}$/.test(String(value)) ? Number(value) : value), number)

export function integerSchema(least: number, most: number) {
  const words = `an integer from ${least} to ${most}`
  return z.int(words).min(least, words).max(most, words)
}

const limit = digitsAsNumber(integerSchema(1, 100).default(20)).meta({
  description: 'Number of records per page.',
})

const cursor = z.string().max(400).optional().meta({
  description: '`nextCursor` of the previous page. Valid only for the same list, filters and owner.',
})

export const pageQuerySchema = <S extends z.ZodRawShape>(filters: S) =>
  z.strictObject({ ...filters, limit, cursor })
export type PageQuerySchema<S extends z.ZodRawShape> = ReturnType<typeof pageQuerySchema<S>>

export const pageSchemaOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), hasMore: z.boolean(), nextCursor: z.string().nullable() })
export type PageSchema<T extends z.ZodType> = ReturnType<typeof pageSchemaOf<T>>

export interface RecordPage<T> {
  data: T[]
  hasMore: boolean
  nextCursor: string | null
}

/**
 * A cursor is the last id of a page, signed together with everything that the page was made for: it cannot be
 * altered, or used by another owner, list or filter.
 */
export class PageCursors {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  write(list: string, lastId: string): string {
    return Buffer.concat([this.#sign(list, lastId), Buffer.from(lastId)]).toString('base64url')
  }

  /** The id after which the page begins; undefined for a cursor that the service did not sign. */
  read(list: string, cursor: string): string | undefined {
    const bytes = Buffer.from(cursor, 'base64url')
    // Decoding base64 skips invalid characters, so the cursor must survive the round trip.
    if (bytes.toString('base64url') !== cursor) return undefined
    const lastId = bytes.subarray(16).toString()
    const isGenuine = bytes.length > 16 && timingSafeEqual(bytes.subarray(0, 16), this.#sign(list, lastId))
    return isGenuine ? lastId : undefined
  }

  #sign(list: string, lastId: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${list}\n${lastId}`).digest().subarray(0, 16)
  }
}

/** The most bytes of a page. A single record that is larger is sent anyway. */
export const MAX_PAGE_BYTES = 524_288

const FIRST = 21

export interface PageRequest<T> {
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
export async function readRecordPage<T>({
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
    if (more.length < most || wanted === 0 || bytes > MAX_PAGE_BYTES) break
    after = keyOf(rows.at(-1) as T)
    most = Math.min(wanted, Math.ceil((MAX_PAGE_BYTES * rows.length) / bytes))
  }
  const fitting = rows.slice(0, Math.min(limit, roomFor(rows)))
  return { rows: fitting, hasMore: fitting.length < rows.length }
}

function roomFor(rows: readonly unknown[]): number {
  let bytes = 0
  const tooMany = rows.findIndex(row => {
    bytes += sizeOf(row)
    return bytes > MAX_PAGE_BYTES
  })
  return tooMany === -1 ? rows.length : Math.max(tooMany, 1)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 8
  return Object.values(value).reduce((sum: number, member) => sum + sizeOf(member), 8)
}
