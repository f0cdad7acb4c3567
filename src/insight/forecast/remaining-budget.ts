import type { Agent } from '../../control/agents/index.ts'
import { readCounters } from '../../control/budgets/index.ts'
import { Policy } from '../../control/policies/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { balancesOf } from '../../money/ledger/index.ts'
import type { Euros } from '../../values/money.ts'

export interface RemainingBudget {
  readonly budgetEuros: Euros | null
  readonly walletEuros: Euros | null
}

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

const atLeastZero = (amount: Euros): Euros => (amount > 0n ? amount : 0n)

export interface MonthOfAgent {
  readonly limitEuros: Euros | null
  readonly heldEuros: Euros
  readonly spentEuros: Euros
  /** In any month; null if it has never spent. */
  readonly lastSpendAt: Date | null
}

export async function monthOfAgent({ id }: Agent, context: Asking): Promise<MonthOfAgent> {
  const { sql, records, tenant, now } = context
  const [counters, policy] = await Promise.all([
    readCounters(sql, { tenant, now }, [id]),
    records.findOne(Policy, { agentId: id, deletedAt: null }),
  ])
  const [{ lastSpendAt }, , { reserved: heldEuros, spent: spentEuros }] = counters.today(id)
  return { limitEuros: policy?.monthlyLimitEuros ?? null, heldEuros, spentEuros, lastSpendAt }
}

export async function remainingOfAgent(agent: Agent, context: Asking): Promise<RemainingBudget> {
  const [{ limitEuros, heldEuros, spentEuros }, balances] = await Promise.all([
    monthOfAgent(agent, context),
    balancesOf(context.sql, context.tenant, [agent.walletId]),
  ])
  return {
    budgetEuros: limitEuros === null ? null : atLeastZero(limitEuros - heldEuros - spentEuros),
    walletEuros: balances.get(agent.walletId)?.availableEuros ?? 0n,
  }
}

export async function remainingOfOwner({ sql, tenant, now }: Asking): Promise<RemainingBudget> {
  const month = (await readCounters(sql, { tenant, now }, [])).ownerCounters()?.month
  if (!month || month.limit === null) return { budgetEuros: null, walletEuros: null }
  return { budgetEuros: atLeastZero(month.limit - month.reserved - month.spent), walletEuros: null }
}
