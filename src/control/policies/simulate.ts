import type { ContextOf, HandlerOf } from '../../kernel/operation.ts'
import { balancesOf } from '../../money/ledger/ledger.ts'
import { type Compiled, compile, decide } from './decide.ts'
import { type Counters, type SpendRequest, untouched } from './decision.ts'
import { readTally } from './open-tally.ts'
import { rulesOf } from './rules.ts'
import { findSpenders } from './spenders.ts'
import { findPolicy } from './standing.ts'
import type { whatIfApi } from './what-if-api.ts'

type Simulate = HandlerOf<typeof whatIfApi.simulate>
type Simulating = ContextOf<typeof whatIfApi.simulate>

/** Under what somebody would ask. */
interface Footing
  extends Pick<SpendRequest, 'agentStatus' | 'policyEndsAt' | 'walletFrozen' | 'availableEuros'> {
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly policy: Compiled
  readonly counters: Counters
}

/** Rules by themselves. */
const nobodys = (
  rules: Parameters<typeof compile>[0],
  of: { readonly id: string; readonly version: number } | null,
): Footing => ({
  ...{ policyId: of?.id ?? null, policyVersion: of?.version ?? null, policy: compile(rules) },
  ...{
    agentStatus: 'active',
    policyEndsAt: null,
    walletFrozen: false,
    availableEuros: null,
    counters: untouched,
  },
})

/** An agent as it stands; its token knows of no other one. */
async function agents(
  id: string,
  at: Date,
  { sql, tenant, actor }: Simulating,
): Promise<Footing | undefined> {
  if (actor.agentId !== null && actor.agentId !== id) return undefined
  const spender = (await findSpenders(sql, tenant, [id])).get(id)
  if (!spender || spender.status === 'deleted') return undefined
  const tally = await readTally(sql, { tenant, now: at }, id)
  const balance = (await balancesOf(sql, tenant, [spender.walletId])).get(spender.walletId)
  const { status: agentStatus, policyId, policyVersion, policyEndsAt, policy } = spender
  return {
    ...{ policyId, policyVersion, policyEndsAt, policy, agentStatus },
    counters: tally.countersOf(id, spender.term),
    walletFrozen: balance?.frozen ?? false,
    availableEuros: balance?.availableEuros ?? 0n,
  }
}

/** The same function that decides about an intent, asked by somebody who stores and reserves nothing. */
export const simulate: Simulate = async ({ body }, context) => {
  const { agentId, policyId, policy: rules, at = context.now, ...asked } = body
  const policy = policyId ? await findPolicy(context.em, policyId) : null
  if (policyId && !policy) return context.refuse('policy_not_found')
  const footing = agentId
    ? await agents(agentId, at, context)
    : nobodys(policy ? rulesOf(policy) : (rules ?? null), policy)
  if (!footing) return context.refuse('agent_not_found')
  const { counters, policy: compiled, policyId: of, policyVersion, ...standing } = footing
  const nothing = { intentId: null, possibleDuplicateOf: null, budgets: [], risk: null, approval: null }
  const request = { ...asked, ...standing, ...nothing, kind: 'intent' as const, at }
  const { holdEuros: _, ...shown } = decide(compiled, request, counters)
  return { id: null, ...shown, policyId: of, policyVersion, riskScore: null }
}
