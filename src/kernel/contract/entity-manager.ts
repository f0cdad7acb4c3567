import type {
  EntityClass,
  FilterQuery,
  LockMode,
  FindOptions as MikroOrmFindOptions,
  RequiredEntityData,
} from '@mikro-orm/core'

/** Orders and limits what is found. No option turns the tenant's filter off. */
export interface FindOptions<T> extends Pick<MikroOrmFindOptions<T>, 'orderBy' | 'limit'> {}

/** `LockMode.PESSIMISTIC_WRITE` locks until the transaction ends, and reads anew what was not locked already. */
export interface LockOptions<T> extends FindOptions<T> {
  readonly lockMode?: LockMode.PESSIMISTIC_WRITE
}

/** MikroORM's entity manager, as a `ReadContext` sees it: it finds the records of the tenant that the caller may see. */
export interface EntityReader {
  find<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: FindOptions<T>,
  ): Promise<T[]>
  findOne<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: FindOptions<T>,
  ): Promise<T | null>
  findOneOrFail<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: FindOptions<T>,
  ): Promise<T>
  count<T extends object>(entity: EntityClass<T>, where?: FilterQuery<NoInfer<T>>): Promise<number>
}

/**
 * MikroORM's entity manager, as a `WriteContext` sees it. A record is one object however often it is found; what was
 * created, changed and removed is written by `flush`, at the latest before the commit. Left out is what goes past the
 * filter of the tenant.
 */
export interface EntityManager extends EntityReader {
  find<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: LockOptions<T>,
  ): Promise<T[]>
  findOne<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: LockOptions<T>,
  ): Promise<T | null>
  findOneOrFail<T extends object>(
    entity: EntityClass<T>,
    where: FilterQuery<NoInfer<T>>,
    options?: LockOptions<T>,
  ): Promise<T>
  /** Missing members get their defaults at once, including the id. */
  create<T extends object>(entity: EntityClass<T>, members: RequiredEntityData<NoInfer<T>>): T
  remove(record: object): unknown
  /** Await it before you change anything: MikroORM would not notice what changes meanwhile. */
  flush(): Promise<void>
}
