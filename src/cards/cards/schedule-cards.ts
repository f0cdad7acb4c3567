import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'

const RETURN = `
update cards set due_at = least(due_at, $4::timestamptz), purse_due_at = least(purse_due_at, $4::timestamptz)
where owner_id = $1 and mode = $2 and id = any($3::text[]) and closed_at is not null and wallet_id is not null`

/**
 * Has the purses of closed cards give back what came free or came in: by a reversal, an expiry or a refund. The caller has
 * locked their agents.
 */
export async function returnPurses(
  sql: Sql,
  { ownerId, mode }: Tenant,
  cardIds: readonly string[],
  at: Date,
): Promise<void> {
  if (cardIds.length > 0) await sql(RETURN, [ownerId, mode, [...new Set(cardIds)], at])
}

const SPEND = `
update cards set spent_at = coalesce(spent_at, $4::timestamptz), due_at = least(due_at, $4::timestamptz)
where owner_id = $1 and mode = $2 and id = any($3::text[]) and closed_at is null`

/** Notes that the one payment of these cards has ended: their processes close them. The caller has locked their agents. */
export async function spendCards(
  sql: Sql,
  { ownerId, mode }: Tenant,
  cardIds: readonly string[],
  at: Date,
): Promise<void> {
  if (cardIds.length > 0) await sql(SPEND, [ownerId, mode, [...new Set(cardIds)], at])
}
