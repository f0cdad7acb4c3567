import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, NO_CENTS, subtractCents, sumOf } from '../../values/money.ts'
import { type BudgetUse, readBudgetUse, UNUSED_BUDGET } from '../budgets/index.ts'

export interface AgentTokenBudget {
  readonly id: string
  readonly label: string
  /** Null for the token of an assistant: what it buys is counted, and its mandate is the limit. */
  readonly maxAmountCents: Cents | null
  readonly paidCents: Cents
  readonly isRevoked: boolean
}

/** Only these transfers have a `token_id`. Rejected, cancelled and returned ones do not count. */
const PAID = `
select token_id as id,
  coalesce(sum(amount_cents) filter (where status in ('created', 'verifying')), 0)::bigint as "heldCents",
  coalesce(sum(amount_cents) filter (where status in ('submitted', 'completed')), 0)::bigint as "spentCents"
from transfers where owner_id = $1 and mode = $2 and token_id = any($3::text[]) group by token_id`

export async function readSpentByTokens(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<(id: string) => BudgetUse> {
  const rows = ids.length === 0 ? [] : await sql<BudgetUse & Row & { id: string }>(PAID, [ownerId, mode, ids])
  const paid = new Map(rows.map(({ id, heldCents, spentCents }) => [id, { heldCents, spentCents }]))
  return id => paid.get(id) ?? UNUSED_BUDGET
}

const LIMITS = `
select id, label, max_amount_cents as "maxAmountCents", revoked_at is not null as "isRevoked" from agent_tokens
where owner_id = $1 and mode = $2 and id = any($3::text[]) and num_nonnulls(max_amount_cents, only_at) > 0`

/** Omits tokens whose spending is not counted. While their agents are locked, no other transaction spends. */
export async function readAgentTokenBudgets(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, AgentTokenBudget>> {
  const tokens = ids.length === 0 ? [] : await sql<AgentTokenBudget & Row>(LIMITS, [ownerId, mode, ids])
  const limited = tokens.filter(({ maxAmountCents }) => maxAmountCents !== null).map(({ id }) => id)
  const paidOf = await readSpentByTokens(sql, { ownerId, mode }, limited)
  return new Map(
    tokens.map(token => {
      const { heldCents, spentCents } = paidOf(token.id)
      return [token.id, { ...token, paidCents: addCents(heldCents, spentCents) }]
    }),
  )
}

/** The remaining budgets of tokens while a batch pays with them. The caller has locked their agents. */
export class RemainingTokenBudgets {
  readonly #left: Map<string, Cents>

  constructor(left: Map<string, Cents>) {
    this.#left = left
  }

  leftOf(tokenId: string): Cents {
    return this.#left.get(tokenId) ?? NO_CENTS
  }

  charge(tokenId: string, amount: Cents): void {
    this.#left.set(tokenId, subtractCents(this.leftOf(tokenId), amount))
  }
}

export async function loadTokenBudgets(
  sql: Sql,
  tenant: Tenant,
  tokenIds: readonly string[],
): Promise<RemainingTokenBudgets> {
  const limits = await readAgentTokenBudgets(sql, tenant, tokenIds)
  const useOf = await readBudgetUse(sql, tenant, [...limits.keys()])
  const left = [...limits.values()].flatMap(({ id, maxAmountCents, paidCents }) => {
    const { heldCents, spentCents } = useOf(id)
    const used = sumOf([heldCents, spentCents, paidCents])
    return maxAmountCents === null ? [] : [[id, subtractCents(maxAmountCents, used)] as const]
  })
  return new RemainingTokenBudgets(new Map(left))
}
