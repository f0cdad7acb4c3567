import { typeidUnboxed } from 'typeid-js'
import { z } from 'zod'

/** A TypeID: the prefix names the kind of record, and ids sort by creation time. */
export const newId = (prefix: string): string => typeidUnboxed(prefix)

const MAX_LENGTH = 128

/** Any other path segment is a 404 without a query. */
export const isIdShaped = (value: string): boolean => /^[\w.:@-]{1,128}$/.test(value)

/** PostgreSQL stores no control characters such as NUL. */
export const isNameShaped = (value: string): boolean => /^[^\p{C}]{1,128}$/u.test(value)

export const id = (prefix: string) =>
  z
    .string()
    .min(1)
    .max(MAX_LENGTH)
    .meta({ examples: [`${prefix}_01jd8x2m4ye7k9v0c3q5r6t8wz`] })

export const idPrefix = (id: string): string => id.slice(0, Math.max(0, id.lastIndexOf('_')))

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
/** As many ids as the last two digits tell apart. */
export const IDS_IN_A_ROW = 32 ** 2

/** Ids that follow each other, with no other one between them. They begin with the digits of a new id. */
export const idInRow = (id: string, place: number): string =>
  `${id.slice(0, -2)}${DIGITS[Math.floor(place / 32)]}${DIGITS[place % 32]}`

/** The digits of a TypeID that hold its milliseconds. */
const TIME_DIGITS = 10

/** When an id was made, in milliseconds. Its prefix may be missing. */
export function idTime(id: string): number {
  const first = id.lastIndexOf('_') + 1
  return Array.from(id.slice(first, first + TIME_DIGITS)).reduce(
    (time, digit) => time * 32 + DIGITS.indexOf(digit),
    0,
  )
}

/** A lower bound in the order of ids: every id made at this instant or later sorts after it. */
export function firstIdAt(prefix: string, at: Date): string {
  const digits = Array.from(
    { length: TIME_DIGITS },
    (_, n) => DIGITS[Math.floor(Math.max(at.getTime(), 0) / 32 ** (TIME_DIGITS - 1 - n)) % 32],
  )
  return `${prefix}_${digits.join('')}`
}
