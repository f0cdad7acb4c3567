import { type EntityManager, type EntityName, type FilterQuery, LockMode, p, raw } from '@mikro-orm/core'
import type { EntityManager as SqlEntityManager } from '@mikro-orm/postgresql'
import { newId } from '../../values/ids.ts'
import type { Euros } from '../../values/money.ts'
import type { Actor, Mode, Tenant } from '../contract/actor.ts'

/** What an entity manager of a request knows; the filters and the columns below read it. */
export interface RecordScope extends Tenant, Reach {
  readonly now: Date
}

/** Whose records, within the tenant's, a credential reaches. */
interface Reach {
  readonly agentId: string | null
  readonly delegationId: string | null
}

/** Whether a record that was read without the filter below is one of the caller's, among those of the tenant. */
export const reaches = (actor: Actor, record: Reach): boolean =>
  (!actor.agentId || actor.agentId === record.agentId) &&
  (!actor.delegationId || actor.delegationId === record.delegationId)

export const reachOf = ({ agentId, delegationId = null }: Actor): Reach => ({ agentId, delegationId })

export function bind(em: EntityManager, scope: RecordScope): void {
  em.setFilterParams('tenant', { ...scope })
}

const scopeOf = (em: EntityManager): RecordScope =>
  em.getContext().getFilterParams('tenant') as unknown as RecordScope

/**
 * Every query of a tenant's table is narrowed to the tenant, for an agent's token to the agent's records, and for that
 * of a delegation to what was made with it.
 * Without a bound scope a query throws: nothing can be read by forgetting something.
 */
const narrowed = (agentColumn?: string, delegationColumn?: string) => ({
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

/** A table of tenants' records; the columns name the agent, and the delegation, to which a row belongs. */
export const tenantTable = <N extends string>(
  name: N,
  tableName: string,
  agentColumn?: string,
  delegationColumn?: string,
) => ({ name, tableName, filters: narrowed(agentColumn, delegationColumn) })

export const timestamp = () => p.datetime().columnType('timestamptz(3)')

/** A member that is null until it is given. */
export const maybe = {
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
  euros: (column: string) =>
    p
      .bigint()
      .name(column)
      .$type<Euros | null>()
      .strictNullable()
      .onCreate(() => null),
  instant: () =>
    timestamp()
      .$type<Date | null>()
      .strictNullable()
      .onCreate(() => null),
}

export const words = () =>
  p
    .array()
    .columnType('text[]')
    .onCreate((): string[] => [])
export const flag = () => p.boolean().onCreate(() => false)

/** When a record came to be and when it was last changed, in the tenant's time. */
export const stamps = () => ({
  createdAt: timestamp().onCreate((_, em) => scopeOf(em).now),
  updatedAt: timestamp()
    .onCreate((_, em) => scopeOf(em).now)
    .onUpdate((_, em) => scopeOf(em).now),
})

/** The members that every tenant's record has. */
export const record = (prefix: string) => ({
  id: p
    .text()
    .primary()
    .onCreate(() => newId(prefix)),
  ownerId: p.text().onCreate((_, em) => scopeOf(em).ownerId),
  mode: p.enum(['test', 'live'] as const).onCreate((_, em): Mode => scopeOf(em).mode),
  ...stamps(),
})

/**
 * A record as it is answered, with these members beside or in place of its own. All others are read from the record
 * itself when the answer is written, not when it is made: `updatedAt` is set in between, with the record's change.
 */
export const answered = <T extends object, M extends object>(record: T, members: M): Omit<T, keyof M> & M =>
  Object.create(record, Object.getOwnPropertyDescriptors(members))

/** A record of the tenant, locked until the transaction ends and read as it is then. */
export const lock = <T extends { id: string }>(
  em: SqlEntityManager,
  entity: EntityName<T>,
  id: string,
): Promise<T | null> =>
  em.findOne(entity, { id } as FilterQuery<T>, {
    lockMode: LockMode.PESSIMISTIC_WRITE,
    refresh: true,
  }) as Promise<T | null>

/** The filters that a request has set: the others match everything. */
export const given = <T extends object>(filters: T) =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]?: Exclude<T[Name], undefined>
  }

/** A merchant in whatever case; in the words of the indexes over it. */
export const ofMerchant = (merchant: string | undefined): object =>
  merchant === undefined
    ? {}
    : { [raw('lower(merchant collate "pg_c_utf8") = lower(btrim(?) collate "pg_c_utf8")', [merchant])]: [] }

/** At `from` or later and before `to`, each where it is set. */
export const within = <T extends Date | string>(from: T | undefined, to: T | undefined) =>
  from || to ? given({ $gte: from, $lt: to }) : undefined
