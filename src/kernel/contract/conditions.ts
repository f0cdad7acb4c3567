import { raw } from '@mikro-orm/core'

interface Bounds<V> {
  readonly gt?: V | undefined
  readonly gte?: V | undefined
  readonly lt?: V | undefined
  readonly lte?: V | undefined
}

interface Range<V> {
  readonly $gt?: V
  readonly $gte?: V
  readonly $lt?: V
  readonly $lte?: V
}

/** A missing bound bounds nothing. */
export function inRange<V>(bounds: Bounds<V>): Range<V> {
  const given = Object.entries(bounds).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given.map(([sign, value]) => [`$${sign}`, value]))
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const startsWith = (text: string): { readonly $like: string } => ({ $like: `${escaped(text)}%` })

/** In any case, also of letters beyond ASCII. */
export const contains = (text: string): { readonly $ilike: string } => ({ $ilike: `%${escaped(text)}%` })

export type SqlCondition = { readonly [sql: symbol]: readonly unknown[] }

/**
 * A condition in SQL, for what members cannot say; `?` stands for each value. Its key is a symbol, which no JSON contains,
 * and a new one each time, so that several can be spread into one condition.
 */
export const sqlCondition = (text: string, values: readonly unknown[] = []): SqlCondition => ({
  [raw(text, [...values]).key]: [],
})

export type ColumnMember<T> = {
  [Name in keyof T & string]: T[Name] extends (...values: never[]) => unknown ? never : Name
}[keyof T & string]

/** Rows of the entity's table in an order of their own, found in a way that a condition cannot say; `?` stands for each value. */
export interface RowSource {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly orderBy: string
}

export interface Tally<T> {
  readonly by: ColumnMember<T>
  readonly sums: readonly ColumnMember<T>[]
  readonly most: number
}

export interface TallyRow {
  readonly key: string
  readonly count: number
  readonly sums: readonly string[]
}
