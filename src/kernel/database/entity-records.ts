import { type EntityClass, LockMode, type RequiredEntityData } from '@mikro-orm/core'
import type { TenantNow } from '../contract/actor.ts'
import {
  type FindOptions,
  isComparison,
  type RecordCondition,
  type Records,
  type RowOptions,
} from '../contract/records.ts'
import type { Sql } from '../contract/sql.ts'
import type { TenantEntityManager } from './entity-manager.ts'
import { openEntityManager } from './orm.ts'

/** The types cannot see into JSON: an object of it is refused here. */
function refuseObjects(member: string, wanted: unknown): unknown {
  if (typeof wanted !== 'object' || wanted === null || wanted instanceof Date) return wanted
  if (isComparison(wanted)) return wanted
  throw new Error(`a condition on ${member} is an object: compare with a value, or by not, oneOf or inRange`)
}

function filterOf(condition: object): object {
  const filter: Record<PropertyKey, unknown> = {}
  for (const key of Reflect.ownKeys(condition)) {
    const wanted: unknown = (condition as Record<PropertyKey, unknown>)[key]
    if (typeof key === 'symbol') filter[key] = wanted
    else if (key === '$and' || key === '$or') filter[key] = (wanted as object[]).map(filterOf)
    else filter[key] = refuseObjects(key, wanted)
  }
  return filter
}

/** `records` on an entity manager. */
export class EntityRecords implements Records {
  readonly #em: () => TenantEntityManager

  constructor(em: () => TenantEntityManager) {
    this.#em = em
  }

  async find<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options: FindOptions<T> = {},
  ): Promise<T[]> {
    const em = this.#em()
    if (em.isReadOnly) return em.rows(entity, filterOf(condition), options)
    return em.find(entity, filterOf(condition), withLockMode(options))
  }

  async findOne<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options: FindOptions<T> = {},
  ): Promise<T | null> {
    return this.#em().findOne(entity, filterOf(condition), withLockMode(options))
  }

  async findOneOrFail<T extends object>(entity: EntityClass<T>, condition: RecordCondition<T>): Promise<T> {
    const record = await this.findOne(entity, condition)
    if (record) return record
    throw new Error(`there is no ${entity.name} with this ${Object.keys(condition).join(' and ')}`)
  }

  async lock<T extends { id: string }>(entity: EntityClass<T>, id: string): Promise<T | null> {
    return this.findOne(entity, { id } as unknown as RecordCondition<T>, { lock: true })
  }

  async count<T extends object>(entity: EntityClass<T>, condition: object = {}): Promise<number> {
    return this.#em().count(entity, filterOf(condition))
  }

  async rows<T extends object>(
    entity: EntityClass<T>,
    condition: RecordCondition<T>,
    options: RowOptions<T> = {},
  ): Promise<T[]> {
    return this.#em().rows<T>(entity, filterOf(condition), options)
  }

  create<T extends object>(entity: EntityClass<T>, members: RequiredEntityData<T>): T {
    return this.#em().create(entity as never, members as never)
  }

  remove(record: object): void {
    this.#em().remove(record as never)
  }

  async flush(): Promise<void> {
    return this.#em().flush()
  }
}

const withLockMode = <T>({ lock, ...options }: FindOptions<T>): never =>
  (lock ? { ...options, lockMode: LockMode.PESSIMISTIC_WRITE } : options) as never

/** All records of a tenant, for a batch of requests by several callers; `reaches` tells what each may see. */
export function tenantRecords(sql: Sql, { tenant: { ownerId, mode }, now }: TenantNow): Records {
  const manager = openEntityManager(sql)
  manager.scope = { ownerId, mode, agentId: null, delegationId: null, now }
  return new EntityRecords(() => manager)
}
