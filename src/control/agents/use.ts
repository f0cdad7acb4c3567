import type { Tenant } from '../../kernel/context.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import type { Euros } from '../../kernel/money.ts'

/** How much of a budget is taken. */
export interface Use {
  readonly heldEuros: Euros
  readonly spentEuros: Euros
}

const NONE: Use = { heldEuros: 0n, spentEuros: 0n }

const USES = `
select run_id as id, coalesce(sum(amount_cents) filter (where status = 'approved'), 0)::bigint as "heldEuros",
  coalesce(sum(amount_cents) filter (where status = 'completed'), 0)::bigint as "spentEuros"
from intents where owner_id = $1 and mode = $2 and run_id = any($3::text[]) group by run_id`

/** What is held and spent under each of these, run or delegation or token. */
export async function usesOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => Use> {
  const rows = ids.length === 0 ? [] : await sql<Use & Row & { id: string }>(USES, [ownerId, mode, ids])
  const uses = new Map(rows.map(({ id, heldEuros, spentEuros }) => [id, { heldEuros, spentEuros }]))
  return id => uses.get(id) ?? NONE
}
