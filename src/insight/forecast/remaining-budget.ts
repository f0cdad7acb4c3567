import type { Agent } from '../../control/agents/index.ts'
import { readCounters } from '../../control/budgets/index.ts'
import { Policy } from '../../control/policies/index.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { readWalletBalances } from '../../money/ledger/index.ts'
import { addCents, type Cents, NO_CENTS, remainderOf } from '../../values/money.ts'

export interface RemainingBudget {
  readonly budgetCents: Cents | null
  readonly walletCents: Cents | null
}

export async function remainingBudgetOfAgent(
  { id, walletId }: Agent,
  { sql, em, tenant, now }: ReadContext,
): Promise<RemainingBudget> {
  const [counters, policy, balances] = await Promise.all([
    readCounters(sql, { tenant, now }, [id]),
    em.findOne(Policy, { agentId: id, deletedAt: null }),
    readWalletBalances(sql, tenant, [walletId]),
  ])
  const [, , { reserved, spent }] = counters.today(id)
  const limitCents = policy?.monthlyLimitCents ?? null
  return {
    budgetCents: limitCents === null ? null : remainderOf(limitCents, addCents(reserved, spent)),
    walletCents: balances.get(walletId)?.availableCents ?? NO_CENTS,
  }
}

export async function remainingBudgetOfOwner({ sql, tenant, now }: ReadContext): Promise<RemainingBudget> {
  const month = (await readCounters(sql, { tenant, now }, [])).ownerCounters()?.month
  if (!month || month.limit === null) return { budgetCents: null, walletCents: null }
  return {
    budgetCents: remainderOf(month.limit, addCents(month.reserved, month.spent)),
    walletCents: null,
  }
}
