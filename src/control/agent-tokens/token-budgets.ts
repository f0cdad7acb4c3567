import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { readBudgetUse } from '../agents/index.ts'
import { tokenLimits } from './limits.ts'

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
