import type { SqlContext } from '../../kernel/contract/context.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { question } from '../../kernel/contract/question.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, NO_CENTS, subtractCents, sumOf } from '../../values/money.ts'
import { type BudgetUse, readBudgetUse } from '../budgets/index.ts'

export interface AgentTokenBudget {
  readonly id: string
  readonly label: string
  /** Null for the token of an assistant: what it buys is counted, and its mandate is the limit. */
  readonly maxAmountCents: Cents | null
  readonly paidCents: Cents
  readonly isRevoked: boolean
}

/** What tokens have paid and are paying, and what their cards can be charged, without an intent, which their counters do not know. */
export const tokenPayments = question<readonly string[], readonly (BudgetUse & { readonly id: string })[]>(
  'agent_tokens.payments',
)

interface AskingContext extends SqlContext {
  readonly service: Pick<RunningService, 'ask'>
}

export async function readSpentByTokens(
  ids: readonly string[],
  context: AskingContext,
): Promise<(id: string) => BudgetUse> {
  const found = ids.length === 0 ? [] : await context.service.ask(tokenPayments, ids, context)
  const paid = Map.groupBy(found.flat(), ({ id }) => id)
  return id => {
    const uses = paid.get(id) ?? []
    return {
      heldCents: sumOf(uses.map(({ heldCents }) => heldCents)),
      spentCents: sumOf(uses.map(({ spentCents }) => spentCents)),
    }
  }
}

const LIMITS = `
select id, label, max_amount_cents as "maxAmountCents", revoked_at is not null as "isRevoked" from agent_tokens
where owner_id = $1 and mode = $2 and id = any($3::text[]) and num_nonnulls(max_amount_cents, only_at) > 0`

/** Omits tokens whose spending is not counted. While their agents are locked, no other transaction spends. */
export async function readAgentTokenBudgets(
  ids: readonly string[],
  context: AskingContext,
): Promise<ReadonlyMap<string, AgentTokenBudget>> {
  const { sql, tenant } = context
  const { ownerId, mode } = tenant
  const tokens = ids.length === 0 ? [] : await sql<AgentTokenBudget & Row>(LIMITS, [ownerId, mode, ids])
  const limited = tokens.filter(({ maxAmountCents }) => maxAmountCents !== null).map(({ id }) => id)
  const paidOf = await readSpentByTokens(limited, context)
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
  tokenIds: readonly string[],
  context: AskingContext,
): Promise<RemainingTokenBudgets> {
  const limits = await readAgentTokenBudgets(tokenIds, context)
  const useOf = await readBudgetUse(context.sql, context.tenant, [...limits.keys()])
  const left = [...limits.values()].flatMap(({ id, maxAmountCents, paidCents }) => {
    const { heldCents, spentCents } = useOf(id)
    const used = sumOf([heldCents, spentCents, paidCents])
    return maxAmountCents === null ? [] : [[id, subtractCents(maxAmountCents, used)] as const]
  })
  return new RemainingTokenBudgets(new Map(left))
}
