import type { Tenant } from '../../kernel/context.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import type { Euros } from '../../kernel/money.ts'

/** A token with a budget of its own. */
export interface TokenLimit {
  readonly id: string
  readonly label: string
  readonly maxAmountEuros: Euros
}

const LIMITS = `
select id, label, max_amount_cents as "maxAmountEuros" from agent_tokens
where owner_id = $1 and mode = $2 and id = any($3::text[]) and max_amount_cents is not null`

/** They never change. */
export async function tokenLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TokenLimit>> {
  const tokens = ids.length === 0 ? [] : await sql<TokenLimit & Row>(LIMITS, [ownerId, mode, ids])
  return new Map(tokens.map(token => [token.id, token]))
}
