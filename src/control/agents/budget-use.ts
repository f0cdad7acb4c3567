import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

/** How much of a budget is taken. */
export interface Use {
  readonly heldEuros: Euros
  readonly spentEuros: Euros
}

const NONE: Use = { heldEuros: 0n, spentEuros: 0n }

/** Since each of them exists, by the key of the counters. */
const USES = `
select subject as id, reserved_cents as "heldEuros", spent_cents as "spentEuros" from counters
where owner_id = $1 and mode = $2 and subject = any($3::text[]) and period = 'all'`

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
