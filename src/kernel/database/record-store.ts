import { RecordStore } from '../../record-store/index.ts'
import type { TenantNow } from '../contract/actor.ts'
import type { Records } from '../contract/records.ts'
import type { Sql } from '../contract/sql.ts'
import type { RecordScope } from './entity.ts'

/**
 * All records of a tenant, for a batch of requests by several callers; `reaches` tells what each may see.
 * `flush` writes those of one table in one statement.
 */
export function tenantRecords(sql: Sql, { tenant: { ownerId, mode }, now }: TenantNow): Records {
  const records = new RecordStore<RecordScope>(sql)
  records.scope = { ownerId, mode, agentId: null, delegationId: null, now }
  return records
}
