import type { Agent } from '../../control/agents/index.ts'
import { readCounters } from '../../control/budgets/index.ts'
import { Policy } from '../../control/policies/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { balancesOf } from '../../money/ledger/index.ts'
import type { Euros } from '../../values/money.ts'

/** What may still be spent: of the budget of this month, and out of the agent's wallet; null where there is none. */
export interface WhatIsLeft {
  readonly budgetEuros: Euros | null
  readonly walletEuros: Euros | null
}

type Asking = Pick<Context, 'sql' | 'records' | 'tenant' | 'now'>

const atLeastNothing = (amount: Euros): Euros => (amount > 0n ? amount : 0n)

/** What the agent's policy and wallet leave. */
export async function leftOfAgent({ id, walletId }: Agent, context: Asking): Promise<WhatIsLeft> {
  const { sql, records, tenant, now } = context
  const [counters, balances, policy] = await Promise.all([
    readCounters(sql, { tenant, now }, [id]),
    balancesOf(sql, tenant, [walletId]),
    records.findOne(Policy, { agentId: id, deletedAt: null }),
  ])
  const [, , { reserved, spent }] = counters.today(id)
  const limit = policy?.monthlyLimitEuros ?? null
  return {
    budgetEuros: limit === null ? null : atLeastNothing(limit - reserved - spent),
    walletEuros: balances.get(walletId)?.availableEuros ?? 0n,
  }
}

/** What the budget that all agents share leaves. */
export async function leftOfOwner({ sql, tenant, now }: Asking): Promise<WhatIsLeft> {
  const month = (await readCounters(sql, { tenant, now }, [])).ownerCounters()?.month
  if (!month || month.limit === null) return { budgetEuros: null, walletEuros: null }
  return { budgetEuros: atLeastNothing(month.limit - month.reserved - month.spent), walletEuros: null }
}
