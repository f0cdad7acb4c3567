import { compilePolicy, decide } from './decide.ts'
import { type Ruling, type SpendRequest, zeroCounters } from './decision.ts'
import type { Rules } from './rules.ts'

type Spend = Pick<SpendRequest, 'at' | 'amountEuros' | 'merchant' | 'payeeIban' | 'mcc' | 'country'>

/** Decides by the rules alone: for an active agent that has spent nothing and has money enough. */
export const decideIsolated = (rules: Rules | null, spend: Spend): Ruling =>
  decide(
    compilePolicy(rules),
    {
      ...spend,
      kind: 'intent',
      agentStatus: 'active',
      policyEndsAt: null,
      intentId: null,
      possibleDuplicateOf: null,
      budgets: [],
      risk: null,
      approval: null,
      walletFrozen: false,
      availableEuros: null,
    },
    zeroCounters,
  )
