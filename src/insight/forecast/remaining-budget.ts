import type { Agent } from '../../control/agents/index.ts'
import { readCounters } from '../../control/budgets/index.ts'
import { Policy } from '../../control/policies/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { balancesOf } from '../../money/ledger/index.ts'
import { type Cents, NO_CENTS, plus, restOf } from '../../values/money.ts'

export interface RemainingBudget {
  readonly budgetCents: Cents | null
  readonly walletCents: Cents | null
}

type BudgetContext = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

export interface MonthOfAgent {
  readonly limitCents: Cents | null
  readonly heldCents: Cents
  readonly spentCents: Cents
  /** In any month; null if it has never spent. */
  readonly lastSpendAt: Date | null
}

export async function monthOfAgent({ id }: Agent, context: BudgetContext): Promise<MonthOfAgent> {
  const { sql, records, tenant, now } = context
  const [counters, policy] = await Promise.all([
    readCounters(sql, { tenant, now }, [id]),
    records.findOne(Policy, { agentId: id, deletedAt: null }),
  ])
  const [{ lastSpendAt }, , { reserved: heldCents, spent: spentCents }] = counters.today(id)
  return { limitCents: policy?.monthlyLimitCents ?? null, heldCents, spentCents, lastSpendAt }
}

export async function remainingOfAgent(agent: Agent, context: BudgetContext): Promise<RemainingBudget> {
  const [{ limitCents, heldCents, spentCents }, balances] = await Promise.all([
    monthOfAgent(agent, context),
    balancesOf(context.sql, context.tenant, [agent.walletId]),
  ])
  return {
    budgetCents: limitCents === null ? null : restOf(limitCents, plus(heldCents, spentCents)),
    walletCents: balances.get(agent.walletId)?.availableCents ?? NO_CENTS,
  }
}

export async function remainingOfOwner({ sql, tenant, now }: BudgetContext): Promise<RemainingBudget> {
  const month = (await readCounters(sql, { tenant, now }, [])).ownerCounters()?.month
  if (!month || month.limit === null) return { budgetCents: null, walletCents: null }
  return {
    budgetCents: restOf(month.limit, plus(month.reserved, month.spent)),
    walletCents: null,
  }
}
