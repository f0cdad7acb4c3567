import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { usesOf } from '../agents/index.ts'
import { tokenLimits } from './limits.ts'

/** What is left of the budgets of tokens, while it is paid with them; for who holds their agents. */
export class Purse {
  readonly #left: Map<string, Euros>

  constructor(left: Map<string, Euros>) {
    this.#left = left
  }

  leftOf(tokenId: string): Euros {
    return this.#left.get(tokenId) ?? 0n
  }

  take(tokenId: string, amount: Euros): void {
    this.#left.set(tokenId, this.leftOf(tokenId) - amount)
  }
}

export async function openPurse(sql: Sql, tenant: Tenant, tokenIds: readonly string[]): Promise<Purse> {
  const limits = await tokenLimits(sql, tenant, tokenIds)
  const uses = await usesOf(sql, tenant, [...limits.keys()])
  const left = [...limits.values()].map(({ id, maxAmountEuros, paidEuros }) => {
    const { heldEuros, spentEuros } = uses(id)
    return [id, maxAmountEuros - heldEuros - spentEuros - paidEuros] as const
  })
  return new Purse(new Map(left))
}
