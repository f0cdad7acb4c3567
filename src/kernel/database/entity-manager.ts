import {
  type EntityClass,
  type EntityData,
  type EntityName,
  type FindOneOptions,
  type FindOptions,
  type Loaded,
  LockMode,
} from '@mikro-orm/core'
import { SqlEntityManager } from '@mikro-orm/postgresql'
import type { Tally, TallyRow } from '../contract/conditions.ts'
import type { Sql } from '../contract/sql.ts'
import type { RecordScope } from './entity.ts'
import {
  type EntityStatements,
  requiredStatement,
  type Selection,
  statementsOf,
} from './entity-statements.ts'

/** The transaction context of an entity manager: where its statements go, and whose rows it may write. */
export class Channel {
  readonly sql: Sql
  scope: RecordScope | undefined
  /** Writes whose answers nothing has waited for: those of a flush go in one round trip. */
  sent: Promise<unknown>[] = []

  constructor(sql: Sql) {
    this.sql = sql
  }

  send(statement: Promise<unknown>): void {
    statement.catch(() => undefined)
    this.sent.push(statement)
  }
}

type Filter = object

/** The flushes of transactions that may not be sent yet: MikroORM takes some turns of the queue of promises for one. */
const handingOver = new WeakMap<Sql, Promise<unknown>>()

/** Before the commit of a transaction, whose writers did not wait for their flushes. */
export const flushesSentOn = async (sql: Sql): Promise<void> => {
  await handingOver.get(sql)
}

/**
 * The entity manager of a request, an activity or a batch: it reads and writes the rows of one tenant. A record that is
 * there is not read again, and one that this transaction has locked or created is not locked again.
 */
export class TenantEntityManager extends SqlEntityManager {
  /** Created or locked by this transaction: no other one can change the row. */
  readonly #held = new WeakSet<object>()
  #isReadOnly = false
  #flushesUnderWay = 0

  open(sql: Sql, { isReadOnly }: { readonly isReadOnly: boolean }): void {
    this.setTransactionContext(new Channel(sql))
    this.#isReadOnly = isReadOnly
  }

  /** A read changes nothing: what it finds need not be compared with its row. */
  get isReadOnly(): boolean {
    return this.#isReadOnly
  }

  get #channel(): Channel {
    return this.getTransactionContext<Channel>() as Channel
  }

  /** The filters of the entities and the defaults of their members read it. */
  get scope(): RecordScope | undefined {
    return this.#channel.scope
  }

  set scope(scope: RecordScope | undefined) {
    this.#channel.scope = scope
    this.setFilterParams('tenant', scope as never)
  }

  override async find<
    T extends object,
    P extends string = never,
    F extends string = never,
    E extends string = never,
  >(
    entity: EntityName<T>,
    where: object,
    options: FindOptions<T, P, F, E> = {},
  ): Promise<Loaded<T, P, F, E>[]> {
    this.#refuseUnsafe(entity, where)
    const { orderBy, limit, lockMode } = options
    if (this.#isReadOnly)
      return (await this.rows(entity as EntityClass<T>, where, { orderBy, limit } as Selection)) as never
    if (!isLocking(lockMode)) return super.find(entity, where as never, withoutFilters(options))
    const selection = { orderBy: orderBy as Selection['orderBy'], limit, isLocking: true }
    const rows = await this.#select(entity, where, selection)
    return rows.map(row => this.#lockedRecord(entity, row)) as Loaded<T, P, F, E>[]
  }

  override async findOne<
    T extends object,
    P extends string = never,
    F extends string = never,
    E extends string = never,
  >(
    entity: EntityName<T>,
    where: object,
    options: FindOneOptions<T, P, F, E> = {},
  ): Promise<Loaded<T, P, F, E> | null> {
    this.#refuseUnsafe(entity, where)
    const locks = isLocking(options.lockMode)
    const known = this.#knownById(entity, where)
    if (known && (!locks || this.#held.has(known))) return known as Loaded<T, P, F, E>
    if (!locks) return super.findOne(entity, where as never, withoutFilters(options))
    const [record = null] = await this.find(entity, where, {
      ...(options as FindOptions<T, P, F, E>),
      limit: 1,
    })
    return record
  }

  override async count<T extends object>(entity: EntityName<T>, where: object = {}): Promise<number> {
    this.#refuseUnsafe(entity, where)
    return super.count(entity, where as never)
  }

  /** Rows as they are stored, for lists: they cannot be changed, and cost a tenth of records. */
  async rows<T extends object>(entity: EntityClass<T>, where: Filter, selection: Selection): Promise<T[]> {
    const rows = await this.#select(entity, where, selection)
    return rows.map(row => Object.assign(Object.create(entity.prototype) as T, row))
  }

  async #select<T extends object>(entity: EntityName<T>, where: Filter, selection: Selection): Promise<T[]> {
    const reached = this.#reached(entity, where)
    const { text, values } = requiredStatement(this.#statements(entity).select(reached, selection))
    return (await this.#channel.sql(text, values)) as T[]
  }

  async tally<T extends object>(entity: EntityName<T>, where: Filter, tally: Tally<T>): Promise<TallyRow[]> {
    const reached = this.#reached(entity, where)
    const { text, values } = requiredStatement(this.#statements(entity).tally(reached, tally))
    return (await this.#channel.sql(text, values)) as unknown as TallyRow[]
  }

  /**
   * The condition, narrowed to what the caller may see. MikroORM's `processWhere` takes turns for that: SQL which is
   * called after a lock would be sent before it.
   */
  #reached<T extends object>(entity: EntityName<T>, where: Filter): Filter {
    this.#refuseUnsafe(entity, where)
    const { tenant } = this.getMetadata(entity).filters as { tenant?: { cond: (scope: unknown) => Filter } }
    return tenant ? { $and: [tenant.cond(this.scope), where] } : where
  }

  override persist<T extends object>(record: T | Iterable<T>): this {
    if (this.#isReadOnly) throw new Error('a read creates no records')
    this.#held.add(record)
    return super.persist(record as T)
  }

  override remove(record: unknown): this {
    if (this.#flushesUnderWay > 0)
      throw new Error('await the flush before a record is removed: it would be forgotten')
    return super.remove(record as object)
  }

  override async flush(): Promise<void> {
    const handedOver = this.handOver()
    const { sql } = this.#channel
    handingOver.set(sql, Promise.allSettled([handingOver.get(sql), handedOver]))
    await Promise.all(await handedOver.then(({ sent }) => sent))
  }

  /** Sends what has changed, without waiting for the answers. A statement that is sent afterwards comes after it. */
  async handOver(): Promise<{ readonly sent: Promise<unknown>[] }> {
    this.#flushesUnderWay++
    try {
      await super.flush()
    } finally {
      this.#flushesUnderWay--
    }
    return { sent: this.#channel.sent.splice(0) }
  }

  #refuseUnsafe<T extends object>(entity: EntityName<T>, where: Filter): void {
    const { filters, tableName } = this.getMetadata(entity)
    if (filters.tenant && !this.scope)
      throw new Error(`${tableName} is read for no tenant: call switchTenant first`)
    refuseUndefined(where)
  }

  #statements<T extends object>(entity: EntityName<T>): EntityStatements {
    return statementsOf(this.getMetadata(entity).class as EntityClass<object>)
  }

  #knownById<T extends object>(entity: EntityName<T>, where: Filter): object | undefined {
    const { id, ...others } = where as { id?: unknown }
    if (typeof id !== 'string' || Reflect.ownKeys(others).length > 0) return undefined
    const { filters, compositePK } = this.getMetadata(entity)
    // The id of a record of a table without a tenant does not say whose it is.
    if (!filters.tenant && compositePK) return undefined
    return this.#known(entity, { ...this.scope, id })
  }

  #known<T extends object>(entity: EntityName<T>, row: object): object | undefined {
    const key = this.getMetadata(entity).primaryKeys.map(member => (row as Record<string, unknown>)[member])
    return this.getUnitOfWork().getById(entity, key as never)
  }

  #isChanged<T extends object>(entity: EntityName<T>, record: T): boolean {
    const comparator = this.getComparator()
    const before = this.getUnitOfWork().getOriginalEntityData(record)
    return before !== undefined && !comparator.matching(entity, before, comparator.prepareEntity(record))
  }

  /** A record that this transaction holds keeps its changes; any other one gets the row of now, and must have none. */
  #lockedRecord<T extends object>(entity: EntityName<T>, row: T): object {
    const known = this.#known(entity, row)
    if (known && this.#held.has(known)) return known
    if (known && this.#isChanged(entity, known as T))
      throw new Error(`${this.getMetadata(entity).tableName}: a record is locked before it is changed`)
    const options = { merge: true, refresh: true, convertCustomTypes: true }
    const record = this.getEntityFactory().create(entity, row as EntityData<T>, options)
    this.#held.add(record)
    return record
  }
}

function isLocking(lockMode: LockMode | undefined): boolean {
  if (lockMode === undefined) return false
  if (lockMode === LockMode.PESSIMISTIC_WRITE) return true
  throw new Error('a record is locked by LockMode.PESSIMISTIC_WRITE only')
}

/** No option turns the filter of the tenant off. */
const withoutFilters = <O extends { filters?: unknown }>({ filters: _, ...options }: O): Omit<O, 'filters'> =>
  options

/** MikroORM would look for null. */
function refuseUndefined(where: Filter): void {
  for (const key of Reflect.ownKeys(where)) {
    const wanted: unknown = (where as Record<PropertyKey, unknown>)[key]
    if (wanted === undefined) throw new Error(`a condition on ${String(key)} is undefined`)
    if (key === '$and' || key === '$or') for (const part of wanted as Filter[]) refuseUndefined(part)
    else if (typeof wanted === 'object' && wanted !== null) refuseUndefined(wanted)
  }
}
