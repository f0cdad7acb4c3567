import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/** A number in a query string: decimal digits only. */
export const inDigits = <T extends z.ZodType>(number: T) =>
  z.preprocess(value => (/^\d{1,9}$/.test(String(value)) ? Number(value) : value), number)

/** A whole number whose every error message names the allowed range. */
export function wholeNumber(least: number, most: number) {
  const words = `a whole number from ${least} to ${most}`
  return z.int(words).min(least, words).max(most, words)
}

const limit = inDigits(wholeNumber(1, 100).default(20)).meta({ description: 'How many records a page has.' })

const cursor = z
  .string()
  .max(400)
  .optional()
  .meta({ description: '`nextCursor` of the page before. Good only for the same list, filters and owner.' })

export const pageQuery = <S extends z.ZodRawShape>(filters: S) =>
  z.strictObject({ ...filters, limit, cursor })
export type PageQuery<S extends z.ZodRawShape> = ReturnType<typeof pageQuery<S>>

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ data: z.array(item), hasMore: z.boolean(), nextCursor: z.string().nullable() })
export type Page<T extends z.ZodType> = ReturnType<typeof pageOf<T>>

export interface PageOf<T> {
  data: T[]
  hasMore: boolean
  nextCursor: string | null
}

/**
 * A cursor is the last id of a page, signed together with everything that the page was made for:
 * it cannot be altered, nor taken to another owner, list or filter.
 */
export class Cursors {
  readonly #secret: string

  constructor(secret: string) {
    this.#secret = secret
  }

  write(list: string, lastId: string): string {
    return Buffer.concat([this.#sign(list, lastId), Buffer.from(lastId)]).toString('base64url')
  }

  /** The id after which the page begins; undefined for a cursor that is not ours. */
  read(list: string, cursor: string): string | undefined {
    const bytes = Buffer.from(cursor, 'base64url')
    // Decoding base64 skips invalid characters, so the cursor must survive the way back.
    if (bytes.toString('base64url') !== cursor) return undefined
    const lastId = bytes.subarray(16).toString()
    const isGenuine = bytes.length > 16 && timingSafeEqual(bytes.subarray(0, 16), this.#sign(list, lastId))
    return isGenuine ? lastId : undefined
  }

  #sign(list: string, lastId: string): Buffer {
    return createHmac('sha256', this.#secret).update(`${list}\n${lastId}`).digest().subarray(0, 16)
  }
}
