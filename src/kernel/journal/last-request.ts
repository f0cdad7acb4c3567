import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'

const LAST_REQUEST = `
select request_id as "requestId", traceparent from events
where owner_id = $1 and mode = $2 and resource_id = $3 and not same_resource
  and actor_type <> 'process' order by id desc limit 1`

export interface LastRequest {
  readonly requestId: string
  readonly traceparent: string | null
}

/**
 * The last request of a person or program about a record. A process that continues the record uses its id as the
 * request id of its own events, and belongs to its trace. Undefined where only processes have changed the record.
 */
export const findLastRequest = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<LastRequest | undefined> => (await sql<Row & LastRequest>(LAST_REQUEST, [ownerId, mode, id]))[0]
