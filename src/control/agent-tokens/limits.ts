import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { type BudgetUse, readBudgetUse, UNUSED } from '../agents/index.ts'

export interface TokenLimit {
  readonly id: string
  readonly label: string
  readonly maxAmountEuros: Euros
  readonly paidEuros: Euros
}

/** Only these transfers have a `token_id`. Rejected, cancelled and returned ones do not count. */
const PAID = `
select token_id as id,
  coalesce(sum(amount_cents) filter (where status in ('created', 'verifying')), 0)::bigint as "heldEuros",
  coalesce(sum(amount_cents) filter (where status in ('submitted', 'completed')), 0)::bigint as "spentEuros"
from transfers where owner_id = $1 and mode = $2 and token_id = any($3::text[]) group by token_id`

/** Payments of these tokens on intents that the owner's key or another token declared. */
export async function readPaidByTokens(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => BudgetUse> {
  const rows = ids.length === 0 ? [] : await sql<BudgetUse & Row & { id: string }>(PAID, [ownerId, mode, ids])
  const paid = new Map(rows.map(({ id, heldEuros, spentEuros }) => [id, { heldEuros, spentEuros }]))
  return id => paid.get(id) ?? UNUSED
}

const LIMITS = `
select id, label, max_amount_cents as "maxAmountEuros" from agent_tokens
where owner_id = $1 and mode = $2 and id = any($3::text[]) and max_amount_cents is not null`

/** Tokens without a budget are left out. No one else spends while their agents are locked. */
export async function tokenLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TokenLimit>> {
  const tokens = ids.length === 0 ? [] : await sql<TokenLimit & Row>(LIMITS, [ownerId, mode, ids])
  const tokenIds = tokens.map(({ id }) => id)
  const paidOf = await readPaidByTokens(sql, { ownerId, mode }, tokenIds)
  return new Map(
    tokens.map(token => {
      const { heldEuros, spentEuros } = paidOf(token.id)
      return [token.id, { ...token, paidEuros: heldEuros + spentEuros }]
    }),
  )
}

/** The rest of tokens' budgets while a batch pays with them. The caller has locked their agents. */
export class TokenBudgets {
  readonly #left: Map<string, Euros>

  constructor(left: Map<string, Euros>) {
    this.#left = left
  }

  leftOf(tokenId: string): Euros {
    return this.#left.get(tokenId) ?? 0n
  }

  charge(tokenId: string, amount: Euros): void {
    this.#left.set(tokenId, this.leftOf(tokenId) - amount)
  }
}

export async function openTokenBudgets(
  sql: Sql,
  tenant: Tenant,
  tokenIds: readonly string[],
): Promise<TokenBudgets> {
  const limits = await tokenLimits(sql, tenant, tokenIds)
  const useOf = await readBudgetUse(sql, tenant, [...limits.keys()])
  const left = [...limits.values()].map(({ id, maxAmountEuros, paidEuros }) => {
    const { heldEuros, spentEuros } = useOf(id)
    return [id, maxAmountEuros - heldEuros - spentEuros - paidEuros] as const
  })
  return new TokenBudgets(new Map(left))
}
