import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Delegation } from './delegation.ts'

/** What a delegation says to whoever spends under it. */
export type DelegationLimit = Pick<
  Delegation,
  'id' | 'ancestors' | 'label' | 'merchant' | 'status' | 'maxAmountEuros' | 'expiresAt'
>

const LIMITS = `
select id, ancestors, label, merchant, status, max_amount_cents as "maxAmountEuros", expires_at as "expiresAt"
from delegations
where owner_id = $1 and mode = $2
  and id = any(array(select unnest(ancestors || id) from delegations where id = any($3::text[])))`

/**
 * These and all above them, each with its whole line, the first one first. For who holds their agents: they stay as
 * they are until the transaction ends.
 */
export async function delegationLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => readonly DelegationLimit[]> {
  const found = ids.length === 0 ? [] : await sql<DelegationLimit & Row>(LIMITS, [ownerId, mode, ids])
  const byId = new Map(found.map(one => [one.id, one]))
  return id => [...(byId.get(id)?.ancestors ?? []), id].flatMap(one => byId.get(one) ?? [])
}
