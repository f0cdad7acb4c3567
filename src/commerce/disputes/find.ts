import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { clock } from '../../values/clock.ts'

const OWNER = `
select d.owner_id as "ownerId", d.mode, coalesce(t.offset_ms, 0)::float8 as "offsetMs"
from disputes d left join tenant_clocks t on t.owner_id = d.owner_id and t.mode = d.mode
where d.id = $1`

interface Owner extends Row {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly offsetMs: number
}

/** Acts for the owner of the dispute where the operator calls, who has none; false where there is none of this id. */
export async function actForOwnerOf(
  id: string,
  { sql, actFor }: Pick<Context, 'sql' | 'actFor'>,
): Promise<boolean> {
  const [found] = await sql<Owner>(OWNER, [id])
  if (!found) return false
  actFor({ ownerId: found.ownerId, mode: found.mode }, clock.tenant(found.offsetMs))
  return true
}
