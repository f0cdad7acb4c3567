import { type EntityClass, type RequiredEntityData, raw } from '@mikro-orm/core'

declare const compared: unique symbol

/**
 * What a member is compared with, other than one value: operators of a MikroORM filter, which `em` takes as well.
 * `records` takes those of the functions below only: an object in JSON from outside is none of them.
 */
export interface Comparison<V> {
  readonly $ne?: V
  readonly $in?: readonly V[]
  readonly $gt?: V
  readonly $gte?: V
  readonly $lt?: V
  readonly $lte?: V
  readonly $like?: string
  readonly $ilike?: string
  readonly [compared]: V
}

const comparisons = new WeakSet<object>()

function comparison<V>(operators: Omit<Comparison<V>, typeof compared>): Comparison<V> {
  comparisons.add(operators)
  return operators as Comparison<V>
}

export const isComparison = (wanted: object): boolean => comparisons.has(wanted)

export const not = <const V>(value: V): Comparison<Exclude<V, null>> =>
  comparison({ $ne: value as Exclude<V, null> })

export const oneOf = <const V>(values: readonly V[]): Comparison<V> => comparison({ $in: values })

interface Bounds<V> {
  readonly gt?: V | undefined
  readonly gte?: V | undefined
  readonly lt?: V | undefined
  readonly lte?: V | undefined
}

/** A missing bound bounds nothing. */
export function inRange<V>(bounds: Bounds<V>): Comparison<V> {
  const given = Object.entries(bounds).filter(([, value]) => value !== undefined)
  return comparison(Object.fromEntries(given.map(([sign, value]) => [`$${sign}`, value])))
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')

export const startsWith = (text: string): Comparison<string> => comparison({ $like: `${escaped(text)}%` })

/** In any case, also of letters beyond ASCII. */
export const contains = (text: string): Comparison<string> => comparison({ $ilike: `%${escaped(text)}%` })

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

/** Members with values or comparisons, and `sqlCondition`. All of it must hold. */
export type RecordCondition<T> = {
  readonly [Member in ColumnMember<T>]?: T[Member] | Comparison<Exclude<T[Member], null>> | null
} & {
  readonly $and?: readonly RecordCondition<T>[]
  readonly $or?: readonly RecordCondition<T>[]
} & SqlCondition

/** Rows of the entity's table in an order of their own, found in a way that a condition cannot say; `?` stands for each value. */
export interface RowSource {
  readonly sql: string
  readonly values: readonly unknown[]
  readonly orderBy: string
}

export interface RowOptions<T> {
  /** Instead of the whole table, and of `orderBy`. */
  readonly source?: RowSource
  readonly orderBy?: { readonly [Member in ColumnMember<T>]?: 'asc' | 'desc' }
  readonly limit?: number
}

export interface FindOptions<T> extends Omit<RowOptions<T>, 'source'> {
  /** Locks the rows until the transaction ends, and reads those anew that were not locked already. */
  readonly lock?: boolean
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

/**
 * The records of the tenant that the caller may see. Each method sends one statement. In a transaction a
 * record is one object however often it is found, and creations, changes and removals are written by `flush`,
 * at the latest before the commit.
 */
export interface Records {
  find<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: FindOptions<T>,
  ): Promise<T[]>
  findOne<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: FindOptions<T>,
  ): Promise<T | null>
  findOneOrFail<T extends object>(entity: EntityClass<T>, condition: RecordCondition<T>): Promise<T>
  /** Locks the record until the transaction ends, and reads it anew if it was not locked already. */
  lock<T extends { id: string }>(entity: EntityClass<T>, id: string): Promise<T | null>
  count<T extends object>(entity: EntityClass<T>, condition?: RecordCondition<T>): Promise<number>
  /** For lists: rows as they are stored, which cannot be changed or removed. */
  rows<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: RowOptions<T>,
  ): Promise<T[]>
  /** Missing members get their defaults at once, including the id. */
  create<T extends object>(entity: EntityClass<T>, members: RequiredEntityData<T>): T
  remove(record: object): void
  flush(): Promise<void>
}

type ReadOptions<T> = Omit<FindOptions<T>, 'lock'> & { readonly lock?: never }

/** The records of a `ReadContext`: found and counted. None is locked, created or removed. */
export interface RecordReader extends Pick<Records, 'findOneOrFail' | 'count' | 'rows'> {
  find<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: ReadOptions<T>,
  ): Promise<T[]>
  findOne<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options?: ReadOptions<T>,
  ): Promise<T | null>
}
