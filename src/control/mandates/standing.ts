import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'

const STATUS = 'select status from mandates where owner_id = $1 and mode = $2 and id = $3'

/** How a mandate stands by now; undefined where there is none of this id. */
export async function mandateStatus(
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<string | undefined> {
  const [mandate] = await sql<{ readonly status: string } & Row>(STATUS, [ownerId, mode, id])
  return mandate?.status
}
