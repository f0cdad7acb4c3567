import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import type { Use } from '../agents/index.ts'

/** A token with a budget of its own. */
export interface TokenLimit {
  readonly id: string
  readonly label: string
  readonly maxAmountEuros: Euros
  /** What has been paid with it on intents that were not declared with it. */
  readonly paidEuros: Euros
}

/** What came to nothing, or back, counts no more. By the index over what was paid so. */
const PAID = `
select token_id as id,
  coalesce(sum(amount_cents) filter (where status in ('created', 'verifying')), 0)::bigint as "heldEuros",
  coalesce(sum(amount_cents) filter (where status in ('submitted', 'completed')), 0)::bigint as "spentEuros"
from transfers where owner_id = $1 and mode = $2 and token_id = any($3::text[]) group by token_id`

/** What has been paid with these tokens on intents that an owner's key or another token has declared. */
export async function paidWith(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => Use> {
  const rows = ids.length === 0 ? [] : await sql<Use & Row & { id: string }>(PAID, [ownerId, mode, ids])
  const paid = new Map(rows.map(({ id, heldEuros, spentEuros }) => [id, { heldEuros, spentEuros }]))
  return id => paid.get(id) ?? { heldEuros: 0n, spentEuros: 0n }
}

const LIMITS = `
select id, label, max_amount_cents as "maxAmountEuros" from agent_tokens
where owner_id = $1 and mode = $2 and id = any($3::text[]) and max_amount_cents is not null`

/** For who holds their agent: nobody else spends with them meanwhile. */
export async function tokenLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TokenLimit>> {
  const tokens = ids.length === 0 ? [] : await sql<TokenLimit & Row>(LIMITS, [ownerId, mode, ids])
  const paid = await paidWith(
    sql,
    { ownerId, mode },
    tokens.map(({ id }) => id),
  )
  return new Map(
    tokens.map(token => {
      const { heldEuros, spentEuros } = paid(token.id)
      return [token.id, { ...token, paidEuros: heldEuros + spentEuros }]
    }),
  )
}
