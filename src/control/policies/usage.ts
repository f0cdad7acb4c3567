import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { balancesOf } from '../../money/ledger/index.ts'
import type { Euros } from '../../values/money.ts'
import { Agent } from '../agents/index.ts'
import { type BudgetCounters, readCounters } from '../budgets/index.ts'
import { remainingOf } from '../rules/index.ts'
import { Policy } from './policy.ts'
import type { usageApi } from './usage-api.ts'

type Used = ReturnType<BudgetCounters['today']>[number]

/** What each agent has used of its day and month, and what its policy and its wallet leave. */
export const usage: HandlerOf<typeof usageApi.usage> = async ({ query: { status, agentId } }, context) => {
  const { page, records, sql, tenant, now } = context
  const agents = await page(Agent, {
    status: status ?? { $ne: 'deleted' },
    ...(agentId === undefined ? {} : { id: agentId }),
  })
  const [counters, balances, policies] = await Promise.all([
    readCounters(
      sql,
      { tenant, now },
      agents.data.map(({ id }) => id),
    ),
    balancesOf(
      sql,
      tenant,
      agents.data.map(({ walletId }) => walletId),
    ),
    records.find(Policy, { agentId: { $in: agents.data.map(({ id }) => id) }, deletedAt: null }),
  ])
  const policyOf = new Map(policies.map(policy => [policy.agentId, policy]))
  return {
    ...agents,
    data: agents.data.map(({ id, name, status, policyId, walletId }) => {
      const [{ lastSpendAt }, day, month] = counters.today(id)
      const policy = policyOf.get(id)
      const balance = balances.get(walletId)
      return {
        id,
        name,
        status,
        policyId,
        walletId,
        availableEuros: balance?.availableEuros ?? 0n,
        heldEuros: balance?.heldEuros ?? 0n,
        day: usedOf(day, policy?.dailyLimitEuros ?? null),
        month: usedOf(month, policy?.monthlyLimitEuros ?? null),
        lastSpendAt,
      }
    }),
  }
}

const usedOf = ({ reserved: heldEuros, spent: spentEuros }: Used, limitEuros: Euros | null) => ({
  limitEuros,
  heldEuros,
  spentEuros,
  remainingEuros:
    limitEuros === null ? null : remainingOf({ limit: limitEuros, used: heldEuros + spentEuros }),
})
