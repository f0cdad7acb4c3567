import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'

const LAST_REQUEST = `
select request_id as "requestId" from events
where owner_id = $1 and mode = $2 and resource_id = $3 and not same_resource
  and actor_type <> 'process' order by id desc limit 1`

/**
 * The id of the last request of a person or program about a record. A process that continues the record uses
 * it as the request id of its own events. Undefined where only processes have changed the record.
 */
export const findLastRequestId = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<string | undefined> =>
  (await sql<Row & { requestId: string }>(LAST_REQUEST, [ownerId, mode, id]))[0]?.requestId
