import type { EntityClass } from '@mikro-orm/core'
import { MikroORM } from '@mikro-orm/postgresql'
import type { TenantNow } from '../contract/actor.ts'
import type { EntityManager } from '../contract/entity-manager.ts'
import type { Sql } from '../contract/sql.ts'
import { PipelineDriver } from './driver.ts'
import type { TenantEntityManager } from './entity-manager.ts'

/** One for the process: it knows the entities, and has no connection of its own. */
let orm: MikroORM | undefined

const OPTIONS = {
  driver: PipelineDriver,
  dbName: 'the pool of the service connects',
  // No entity has relations, so members are plain values and no accessors.
  propagationOnPrototype: false,
  // Transactions are opened by the engine, which commits the journal with them.
  implicitTransactions: false,
  flushMode: 'commit',
  // The columns are `not null`, and the types of `create` ask for each member.
  validateRequired: false,
  // Pinned: MikroORM would take them from the environment, `MIKRO_ORM_BATCH_SIZE` and others.
  batchSize: 300,
  useBatchInserts: true,
  useBatchUpdates: true,
  forceUndefined: false,
  forceEntityConstructor: false,
  populateAfterFlush: true,
  preferEnvVars: false,
  ensureDatabase: false,
  logger: () => undefined,
  // Names no values, which the log must not have.
  findOneOrFailHandler: (name: string, where: object) =>
    new Error(`there is no ${name} with this ${Object.keys(where).join(' and ')}`),
} as const

/** Before the first request: learning the entities takes a tenth of a second. */
export function openOrm(entities: readonly EntityClass<object>[]): void {
  if (entities.length === 0) return
  orm ??= new MikroORM({ ...OPTIONS, entities: [...entities] } as never)
  const metadata = orm.getMetadata()
  for (const entity of entities) if (!metadata.find(entity)) orm.discoverEntity(entity as never)
}

export function openEntityManager(sql: Sql, { isReadOnly = false } = {}): TenantEntityManager {
  if (!orm) throw new Error('no entities are known: call openOrm first')
  const manager = orm.em.fork() as unknown as TenantEntityManager
  manager.open(sql, { isReadOnly })
  return manager
}

/** Reaches all records of a tenant, for a batch of requests by several callers; `mayReachRecord` tells what each may see. */
export function tenantEntityManager(sql: Sql, { tenant: { ownerId, mode }, now }: TenantNow): EntityManager {
  const manager = openEntityManager(sql)
  manager.scope = { ownerId, mode, agentId: null, delegationId: null, now }
  return manager as EntityManager
}
