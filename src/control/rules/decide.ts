import { formatEuros } from '../../values/money.ts'
import {
  amountToHold,
  autoApprove,
  budget,
  dailyLimit,
  funds,
  maxTransaction,
  monthlyLimit,
  tolerance,
  walletState,
} from './amount-rules.ts'
import type { Check, Counters, Outcome, Ruling, SpendRequest } from './decision.ts'
import { type Evaluator, type PolicyTerms, type Rule, type RuleInput, termsOf } from './evaluation.ts'
import {
  allowedMccs,
  allowlist,
  blockedMccs,
  blocklist,
  boundMerchant,
  countries,
  firstMerchantOnly,
} from './merchant-rules.ts'
import { agentState, attestation, duplicate, requireIntent, risk } from './person-rules.ts'
import type { Rules } from './rules.ts'
import { activeHours, cooldown, expiry, usage } from './time-rules.ts'

/** All rules in the order in which they are evaluated and shown: who spends, where, when, how much, who approves. */
export const ruleTable: readonly Rule[] = [
  agentState,
  expiry,
  requireIntent,
  blocklist,
  allowlist,
  blockedMccs,
  allowedMccs,
  countries,
  firstMerchantOnly,
  boundMerchant,
  activeHours,
  cooldown,
  usage,
  maxTransaction,
  dailyLimit,
  monthlyLimit,
  budget,
  risk,
  duplicate,
  attestation,
  autoApprove,
  tolerance,
  walletState,
  funds,
]

/** A policy made ready to decide, with an evaluator for each rule that it sets. */
export interface CompiledPolicy {
  readonly terms: PolicyTerms | null
  readonly evaluators: readonly Evaluator[]
}

/** null = an agent without a policy: a person approves everything. */
export function compilePolicy(rules: Rules | null): CompiledPolicy {
  const terms = rules && termsOf(rules)
  return { terms, evaluators: ruleTable.flatMap(rule => rule.compile(terms) ?? []) }
}

/** Limits of which several can be too low: the reason is the narrowest, so that what it leaves is enough for all. */
const nestedLimits: ReadonlySet<string> = new Set(['dailyLimitEuros', 'monthlyLimitEuros', 'budget'])

const isNarrower = (check: Check, decidingCheck: Check | undefined): boolean =>
  check.outcome === 'fail' &&
  decidingCheck !== undefined &&
  nestedLimits.has(check.rule) &&
  nestedLimits.has(decidingCheck.rule) &&
  Number(check.remaining) < Number(decidingCheck.remaining)

const severity: Readonly<Record<Outcome, number>> = { skip: 0, pass: 0, review: 1, fail: 2 }

/**
 * The one decision about money: pure, and the same whatever spends. It changes no counter: the caller reserves what is
 * allowed, under the locks under which it read the counters.
 */
export function decide(policy: CompiledPolicy, request: SpendRequest, counters: Counters): Ruling {
  const holdEuros = amountToHold(policy.terms, { request, counters })
  const input: { -readonly [Name in keyof RuleInput]: RuleInput[Name] } = {
    request,
    counters,
    holdEuros,
    amountInWords: formatEuros(request.amountEuros),
    outcomeSoFar: 'pass',
  }
  const checks: Check[] = []
  let decidingCheck: Check | undefined
  for (const evaluate of policy.evaluators) {
    const check = evaluate(input)
    if (!check) continue
    checks.push(check)
    if (severity[check.outcome] > severity[input.outcomeSoFar] || isNarrower(check, decidingCheck)) {
      input.outcomeSoFar = check.outcome
      decidingCheck = check
    }
  }
  const outcome = input.outcomeSoFar
  return {
    allowed: outcome !== 'fail',
    requiresApproval: outcome === 'review',
    reason: decidingCheck?.message ?? reasonToPass(checks),
    checks,
    holdEuros,
  }
}

/** The reason of a spend that no rule stops: why no person is asked. */
const reasonToPass = (checks: readonly Check[]): string =>
  (checks.find(({ rule }) => rule === 'autoApproveLimitEuros') ?? checks.at(-1))?.message ??
  'Nothing is against it.'
