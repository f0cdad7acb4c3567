import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Delegation } from './delegation.ts'

/** The members of a delegation that limit what is spent under it. */
export type DelegationLimit = Pick<
  Delegation,
  'id' | 'ancestors' | 'label' | 'merchant' | 'status' | 'maxAmountEuros' | 'expiresAt'
>

const LIMITS = `
select id, ancestors, label, merchant, status, max_amount_cents as "maxAmountEuros", expires_at as "expiresAt"
from delegations
where owner_id = $1 and mode = $2
  and id = any(array(
    select unnest(ancestors || id) from delegations where owner_id = $1 and mode = $2 and id = any($3::text[])))`

/**
 * Reads delegations and all their ancestors; the result gives a delegation after its ancestors, the topmost first. The
 * caller has locked their agents: nobody changes them until the transaction ends.
 */
export async function delegationLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => readonly DelegationLimit[]> {
  const limits = ids.length === 0 ? [] : await sql<DelegationLimit & Row>(LIMITS, [ownerId, mode, ids])
  const limitById = new Map(limits.map(limit => [limit.id, limit]))
  return id => {
    const ancestors = limitById.get(id)?.ancestors ?? []
    return [...ancestors, id].flatMap(ancestorOrSelf => limitById.get(ancestorOrSelf) ?? [])
  }
}
