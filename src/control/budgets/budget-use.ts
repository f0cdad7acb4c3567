import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'

export interface BudgetUse {
  readonly heldCents: Cents
  readonly spentCents: Cents
}

export const UNUSED_BUDGET: BudgetUse = { heldCents: NO_CENTS, spentCents: NO_CENTS }

const USES = `
select subject as id, reserved_cents as "heldCents", spent_cents as "spentCents" from counters
where owner_id = $1 and mode = $2 and subject = any($3::text[]) and period = 'all'`

export async function readBudgetUse(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => BudgetUse> {
  const rows = ids.length === 0 ? [] : await sql<BudgetUse & Row & { id: string }>(USES, [ownerId, mode, ids])
  const uses = new Map(rows.map(({ id, heldCents, spentCents }) => [id, { heldCents, spentCents }]))
  return id => uses.get(id) ?? UNUSED_BUDGET
}
