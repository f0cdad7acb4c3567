import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'

/** How much of a budget is held and spent. */
export interface BudgetUse {
  readonly heldEuros: Euros
  readonly spentEuros: Euros
}

export const UNUSED: BudgetUse = { heldEuros: 0n, spentEuros: 0n }

const USES = `
select subject as id, reserved_cents as "heldEuros", spent_cents as "spentEuros" from counters
where owner_id = $1 and mode = $2 and subject = any($3::text[]) and period = 'all'`

/** Reads what is held and spent in all under these runs, delegations or tokens; the result looks one up by its id. */
export async function readBudgetUse(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => BudgetUse> {
  const rows = ids.length === 0 ? [] : await sql<BudgetUse & Row & { id: string }>(USES, [ownerId, mode, ids])
  const uses = new Map(rows.map(({ id, heldEuros, spentEuros }) => [id, { heldEuros, spentEuros }]))
  return id => uses.get(id) ?? UNUSED
}
