import { typeidUnboxed } from 'typeid-js'
import { z } from 'zod'

/** A TypeID: says what it names and sorts by the moment it was made. */
export const newId = (prefix: string): string => typeidUnboxed(prefix)

/** The only characters an identifier in a path can have; anything else names nothing. */
export const looksLikeId = (value: string): boolean => /^[\w.:@-]{1,128}$/.test(value)

export const id = (prefix: string) =>
  z
    .string()
    .max(128)
    .meta({ examples: [`${prefix}_01jd8x2m4ye7k9v0c3q5r6t8wz`] })
