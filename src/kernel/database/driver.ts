import {
  type Configuration,
  type CountOptions,
  type EntityClass,
  type EntityData,
  type EntityDictionary,
  type EntityManagerType,
  type EntityName,
  type FilterQuery,
  type FindOneOptions,
  type FindOptions,
  LockMode,
  type ObjectQuery,
  type QueryResult,
} from '@mikro-orm/core'
import {
  AbstractSqlConnection,
  AbstractSqlDriver,
  NativeQueryBuilder,
  PostgreSqlPlatform,
} from '@mikro-orm/postgresql'
import { Channel, TenantEntityManager } from './entity-manager.ts'
import { type EntityStatements, type Statement, statementsOf } from './entity-statements.ts'

const numberedTexts = new Map<string, string>()

/** MikroORM writes `?` for a value, and `\?` for the operator of that name. */
function numbered(text: string): string {
  const known = numberedTexts.get(text)
  if (known) return known
  let places = 0
  const made = text.replace(/\\?\?/g, found => (found === '?' ? `$${++places}` : '?'))
  numberedTexts.set(text, made)
  return made
}

/** Hands what MikroORM's query builder writes to the pipeline as prepared statements: their texts hold no values. */
class PipelineConnection extends AbstractSqlConnection {
  override createKysely(): void {}

  override createKyselyDialect(): never {
    throw new Error('no statement goes by Kysely')
  }

  override async connect(): Promise<void> {
    this.connected = true
  }

  override async execute<T>(
    query: string | NativeQueryBuilder | { readonly sql: string; readonly params: readonly unknown[] },
    values: readonly unknown[] = [],
    method: 'all' | 'get' | 'run' = 'all',
    channel?: unknown,
  ): Promise<T> {
    const built = query instanceof NativeQueryBuilder ? query.toRaw() : query
    const { sql: text, params } = typeof built === 'string' ? { sql: built, params: values } : built
    const rows = await channelOf({ ctx: channel }).sql(numbered(text), params)
    return this.transformRawResult({ rows, numAffectedRows: BigInt(rows.length) } as never, method) as T
  }
}

/** MikroORM leaves out the quotes where PostgreSQL takes a text for null, or trims it. */
class QuotingPlatform extends PostgreSqlPlatform {
  override marshallArray(values: string[]): string {
    return `{${values.map(value => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
  }
}

/** All that the unit of work reads of a write that returns no rows. */
const SENT = { affectedRows: 1 } as QueryResult<never>

type Members = Readonly<Record<string, unknown>>

interface Sending {
  readonly ctx?: unknown
}

/**
 * Writes plain statements itself, the text of each shape once, and sends those of a flush together. MikroORM's query
 * builder writes all others.
 */
export class PipelineDriver extends AbstractSqlDriver<PipelineConnection, PostgreSqlPlatform> {
  constructor(config: Configuration) {
    super(config, new QuotingPlatform(), PipelineConnection as never, ['pg'])
  }

  override createEntityManager(useContext?: boolean): this[typeof EntityManagerType] {
    return new TenantEntityManager(this.config, this, this.metadata, useContext) as never
  }

  override async find<
    T extends object,
    P extends string = never,
    F extends string = never,
    E extends string = never,
  >(
    entity: EntityName<T>,
    where: ObjectQuery<T>,
    options: FindOptions<T, P, F, E> & Sending = {},
  ): Promise<EntityData<T>[]> {
    const { orderBy, limit, lockMode } = options
    const isLocking = lockMode === LockMode.PESSIMISTIC_WRITE
    const statement = this.#statements(entity).select(where, {
      orderBy: orderBy as Members,
      limit,
      isLocking,
    })
    if (!statement) return super.find(entity, where, options)
    return (await channelOf(options).sql(statement.text, statement.values)) as EntityData<T>[]
  }

  override async findOne<
    T extends object,
    P extends string = never,
    F extends string = never,
    E extends string = never,
  >(
    entity: EntityName<T>,
    where: ObjectQuery<T>,
    options: FindOneOptions<T, P, F, E> = {},
  ): Promise<EntityData<T> | null> {
    const [row] = await this.find(entity, where, { ...(options as FindOptions<T, P, F, E>), limit: 1 })
    return row ?? null
  }

  override async count<T extends object>(
    entity: EntityName<T>,
    where: object,
    options: CountOptions<T> & Sending = {},
  ): Promise<number> {
    const statement = this.#statements(entity).count(where)
    if (!statement) return super.count(entity, where, options)
    const [row] = await channelOf(options).sql<{ count: number }>(statement.text, statement.values)
    return row?.count ?? 0
  }

  /** `em.insert` and `em.upsert`: the unit of work does not know such rows. */
  override nativeInsert(): never {
    throw new Error('rows are inserted by `em.create` only')
  }

  override async nativeInsertMany<T extends object>(
    entity: EntityName<T>,
    rows: EntityDictionary<T>[],
    options: Sending = {},
  ): Promise<QueryResult<T>> {
    this.#refuseOthers(entity, rows, options)
    return this.#send(this.#statements(entity).insert(rows), options)
  }

  override async nativeUpdate<T extends object>(
    entity: EntityName<T>,
    where: FilterQuery<T>,
    changes: EntityDictionary<T>,
    options: Sending = {},
  ): Promise<QueryResult<T>> {
    const key = where as Members
    this.#refuseOthers(entity, [key, { ...key, ...changes }], options)
    return this.#send(this.#statements(entity).update(key, changes), options)
  }

  override async nativeUpdateMany<T extends object>(
    entity: EntityName<T>,
    where: FilterQuery<T>[],
    changes: EntityDictionary<T>[],
    options: Sending = {},
  ): Promise<QueryResult<T>> {
    const keys = where as readonly Members[]
    const pairs = keys.map((key, n) => ({ key, change: (changes[n] ?? {}) as Members }))
    this.#refuseOthers(entity, [...keys, ...pairs.map(({ key, change }) => ({ ...key, ...change }))], options)
    const alike = Map.groupBy(pairs, ({ change }) => Object.keys(change).join())
    for (const group of alike.values()) this.#send(this.#statements(entity).updateMany(group), options)
    return SENT
  }

  /** The unit of work names the rows by their primary keys. */
  override async nativeDelete<T extends object>(
    entity: EntityName<T>,
    where: object,
    options: Sending = {},
  ): Promise<QueryResult<T>> {
    const [named] = Object.values(where) as { readonly $in?: readonly (Members | string)[] }[]
    if (!named?.$in) throw new Error('rows are deleted by `em.remove` only')
    const keys = named.$in.map(key => (typeof key === 'string' ? { id: key } : key))
    this.#refuseOthers(entity, keys, options)
    for (const key of keys) this.#send(this.#statements(entity).delete(key), options)
    return SENT
  }

  #statements<T extends object>(entity: EntityName<T>): EntityStatements {
    return statementsOf(this.metadata.get(entity).class as EntityClass<object>)
  }

  #send({ text, values }: Statement, options: Sending): QueryResult<never> {
    const channel = channelOf(options)
    channel.send(channel.sql(text, values))
    return SENT
  }

  /** Filters guard reads only: a write of another tenant's row ends here. */
  #refuseOthers<T extends object>(entity: EntityName<T>, rows: readonly Members[], options: Sending): void {
    const { filters, className } = this.metadata.get(entity)
    if (!filters.tenant) return
    const { scope } = channelOf(options)
    if (rows.some(({ ownerId, mode }) => !scope || ownerId !== scope.ownerId || mode !== scope.mode))
      throw new Error(`${className}: a row of another owner or mode cannot be written`)
  }
}

function channelOf({ ctx }: Sending): Channel {
  if (ctx instanceof Channel) return ctx
  throw new Error('this entity manager has no connection: use that of a request, an activity or a batch')
}
