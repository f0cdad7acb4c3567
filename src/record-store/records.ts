import type { EntityClass, RequiredEntityData } from '@mikro-orm/core'
import type { Comparison, SqlCondition } from './conditions.ts'

export type Row = Record<string, unknown>

/** Runs one statement with its values on the connection or pool that it is bound to. */
export type Sql = <R extends Row = Row>(text: string, values?: readonly unknown[]) => Promise<R[]>

/** The columns `owner_id` and `mode` of each table, and the first two of its primary key. */
export interface Tenant {
  readonly ownerId: string
  readonly mode: string
}

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

export interface FindOptions<T> {
  /** Instead of the whole table, and of `orderBy`. */
  readonly source?: RowSource
  readonly orderBy?: { readonly [Member in ColumnMember<T>]?: 'asc' | 'desc' }
  readonly limit?: number
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
  /** Counts the newest `most` of these records by a member, and adds up others, in SQL's units. */
  tally<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    tally: Tally<T>,
  ): Promise<TallyRow[]>
  /** Missing members get their defaults at once, including the id. */
  create<T extends object>(entity: EntityClass<T>, members: RequiredEntityData<T>): T
  remove(record: object): void
  flush(): Promise<void>
}
