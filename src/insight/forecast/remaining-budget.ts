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

export interface AgentMonthUsage {
  readonly limitCents: Cents | null
  readonly heldCents: Cents
  readonly spentCents: Cents
  /** In any month; null if it has never spent. */
  readonly lastSpendAt: Date | null
}

export async function readAgentMonthUsage({ id }: Agent, context: ReadContext): Promise<AgentMonthUsage> {
  const { sql, em, tenant, now } = context
  const [counters, policy] = await Promise.all([
    readCounters(sql, { tenant, now }, [id]),
    em.findOne(Policy, { agentId: id, deletedAt: null }),
  ])
  const [{ lastSpendAt }, , { reserved: heldCents, spent: spentCents }] = counters.today(id)
  return { limitCents: policy?.monthlyLimitCents ?? null, heldCents, spentCents, lastSpendAt }
}

export async function remainingBudgetOfAgent(agent: Agent, context: ReadContext): Promise<RemainingBudget> {
  const [{ limitCents, heldCents, spentCents }, balances] = await Promise.all([
    readAgentMonthUsage(agent, context),
    readWalletBalances(context.sql, context.tenant, [agent.walletId]),
  ])
  return {
    budgetCents: limitCents === null ? null : remainderOf(limitCents, addCents(heldCents, spentCents)),
    walletCents: balances.get(agent.walletId)?.availableCents ?? NO_CENTS,
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
