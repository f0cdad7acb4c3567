import { typeidUnboxed } from 'typeid-js'
import { z } from 'zod'

/** A TypeID: says what it names and sorts by the moment it was made. */
export const newId = (prefix: string): string => typeidUnboxed(prefix)

const LONGEST = 128

/** The only characters an identifier in a path can have; anything else names nothing. */
export const looksLikeId = (value: string): boolean => /^[\w.:@-]{1,128}$/.test(value)

export const id = (prefix: string) =>
  z
    .string()
    .min(1)
    .max(LONGEST)
    .meta({ examples: [`${prefix}_01jd8x2m4ye7k9v0c3q5r6t8wz`] })

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
/** As many as the milliseconds of a TypeID take. */
const TIME_DIGITS = 10

/** What no id that is made at this instant or later comes before. */
export function firstIdAt(prefix: string, at: Date): string {
  const digits = Array.from(
    { length: TIME_DIGITS },
    (_, n) => DIGITS[Math.floor(Math.max(at.getTime(), 0) / 32 ** (TIME_DIGITS - 1 - n)) % 32],
  )
  return `${prefix}_${digits.join('')}`
}
