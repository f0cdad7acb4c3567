import type { Tenant } from './actor.ts'
import type { Sql } from './sql.ts'

/** In words, what is missing before the tenant's owner can make live keys; empty once they can. */
export type FindMissingIdentity = (sql: Sql, tenant: Tenant) => Promise<readonly string[]>
