import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'

const LAST_REQUEST = `
select request_id as "requestId" from audit_entries
where owner_id = $1 and mode = $2 and resource_id = $3 and actor_type <> 'process' order by id desc limit 1`

/**
 * The last request that somebody made about a record: for that one a process goes on with it, and what happens then is
 * told under its id. Undefined where there was none.
 */
export const causeOf = async (sql: Sql, { ownerId, mode }: Tenant, id: string): Promise<string | undefined> =>
  (await sql<Row & { requestId: string }>(LAST_REQUEST, [ownerId, mode, id]))[0]?.requestId
