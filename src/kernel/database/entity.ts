import { LockMode, p } from '@mikro-orm/core'
import { clock } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import type { Actor, Mode, Tenant } from '../contract/actor.ts'
import { inRange, type SqlCondition, sqlCondition } from '../contract/conditions.ts'

export interface RecordScope extends Tenant, Reach {
  readonly now: Date | undefined
}

interface Reach {
  readonly agentId: string | null
  readonly delegationId: string | null
}

/** Whether the caller may see a record of its tenant that was read without the filter below. */
export const mayReachRecord = (actor: Actor, record: Reach): boolean =>
  (!actor.agentId || actor.agentId === record.agentId) &&
  (!actor.delegationId || actor.delegationId === record.delegationId)

/** The token of an assistant, which is accepted at one path only; null for all other callers. */
export const assistantTokenOf = ({ onlyAt, id }: Actor): string | null => (onlyAt === undefined ? null : id)

/**
 * Whether the caller may pay or change a record that it can see. An assistant uses what it made itself: everything
 * else was decided without its budget and its person.
 */
export const mayUseRecord = (actor: Actor, { tokenId }: { readonly tokenId: string | null }): boolean =>
  actor.onlyAt === undefined || tokenId === actor.id

export const actorReach = ({ agentId, delegationId = null }: Actor): Reach => ({ agentId, delegationId })

/** MikroORM does not know which entity manager is used. */
const scopeOf = (manager: unknown): Tenant & { now: Date } =>
  (manager as { scope: Tenant & { now: Date } }).scope

/**
 * Narrows every query of a tenant's table to the tenant; for an agent's token to the agent's records, and for
 * a delegation's token to the records made with it. A query without a bound scope throws: no filter can be
 * forgotten.
 */
const tenantFilter = (agentColumn?: string, delegationColumn?: string) => ({
  tenant: {
    name: 'tenant',
    default: true,
    cond: ({ ownerId, mode, agentId, delegationId }: RecordScope) => ({
      ownerId,
      mode,
      ...(agentColumn && agentId ? { [agentColumn]: agentId } : {}),
      ...(delegationColumn && delegationId ? { [delegationColumn]: delegationId } : {}),
    }),
  },
})

export const tenantTable = <N extends string>(
  name: N,
  tableName: string,
  agentColumn?: string,
  delegationColumn?: string,
) => ({ name, tableName, filters: tenantFilter(agentColumn, delegationColumn) })

export const timestampColumn = () => p.datetime().columnType('timestamptz(3)')

export const nullable = {
  string: () =>
    p
      .text()
      .$type<string | null>()
      .strictNullable()
      .onCreate(() => null),
  integer: () =>
    p
      .integer()
      .$type<number | null>()
      .strictNullable()
      .onCreate(() => null),
  number: () =>
    p
      .double()
      .$type<number | null>()
      .strictNullable()
      .onCreate(() => null),
  cents: (column: string) =>
    p
      .bigint()
      .name(column)
      .$type<Cents | null>()
      .strictNullable()
      .onCreate(() => null),
  enum: <const T extends readonly string[]>(values: T) =>
    p
      .enum(values)
      .$type<T[number] | null>()
      .strictNullable()
      .onCreate(() => null),
  json: <T>() =>
    p
      .json<T | null>()
      .strictNullable()
      .onCreate(() => null),
  textArray: <T extends string>() =>
    p
      .array()
      .columnType('text[]')
      .$type<T[] | null>()
      .strictNullable()
      .onCreate(() => null),
  instant: () =>
    timestampColumn()
      .$type<Date | null>()
      .strictNullable()
      .onCreate(() => null),
}

export const centsColumn = (column: string) => p.bigint().name(column).$type<Cents>()

export const zeroCentsColumn = (column: string) => centsColumn(column).onCreate(() => NO_CENTS)

export const textArrayColumn = () =>
  p
    .array()
    .columnType('text[]')
    .onCreate((): string[] => [])

/** What a customer notes with a record. */
export const metadataColumn = () => p.json<Record<string, string>>().onCreate(() => ({}))

export const booleanColumn = () => p.boolean().onCreate(() => false)

export const timestampColumns = () => ({
  createdAt: timestampColumn().onCreate((_, manager) => scopeOf(manager).now),
  updatedAt: timestampColumn()
    .onCreate((_, manager) => scopeOf(manager).now)
    .onUpdate((_, manager) => scopeOf(manager).now),
})

export const realTimeColumn = () => timestampColumn().onCreate(() => clock.real())

/** In real time: a moved test clock expires nothing that such a record grants. */
export const realTimestampColumns = () => ({
  createdAt: realTimeColumn(),
  updatedAt: realTimeColumn().onUpdate(() => clock.real()),
})

export const recordColumns = (prefix: string) => ({
  id: p
    .text()
    .primary()
    .onCreate(() => newId(prefix)),
  ownerId: p
    .text()
    .primary()
    .onCreate((_, manager) => scopeOf(manager).ownerId),
  mode: p
    .enum(['test', 'live'] as const)
    .primary()
    .onCreate((_, manager): Mode => scopeOf(manager).mode),
  ...timestampColumns(),
})

/**
 * A view of a record with these members beside or in place of its own. The others are read from the record
 * only when the answer is encoded: the flush before that sets `updatedAt`.
 */
export const withMembers = <T extends object, M extends object>(
  record: T,
  members: M,
): Omit<T, keyof M> & M => Object.create(record, Object.getOwnPropertyDescriptors(members))

/** For a record that will change: locked until the transaction ends. */
export const FOR_UPDATE = { lockMode: LockMode.PESSIMISTIC_WRITE } as const

/** For several records, which all transactions lock in this order. */
export const FOR_UPDATE_BY_ID = { ...FOR_UPDATE, orderBy: { id: 'asc' } } as const

/** Filters that a request did not send are left out. A condition in SQL, which a symbol names, stays. */
export const definedOnly = <T extends object>(filters: T) =>
  Object.fromEntries(
    Reflect.ownKeys(filters).flatMap(name => {
      const value = filters[name as keyof T]
      return value === undefined ? [] : [[name, value]]
    }),
  ) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }

/** Matches a merchant's name in any case, written as the indexes on it are. */
export const merchantCondition = (merchant: string | undefined): SqlCondition =>
  merchant === undefined
    ? {}
    : sqlCondition('lower(merchant collate "pg_c_utf8") = lower(btrim(?) collate "pg_c_utf8")', [merchant])

/** From `from` (inclusive) to `to` (exclusive); either may be missing. */
export const halfOpenRangeCondition = <T extends Date | string>(from: T | undefined, to: T | undefined) =>
  from || to ? inRange({ gte: from, lt: to }) : undefined
