import { formatEuros } from '../../values/money.ts'
import {
  autoApprove,
  budget,
  daily,
  funds,
  holdFor,
  maxTransaction,
  monthly,
  tolerance,
  walletState,
} from './amount-rules.ts'
import { type Judge, type Question, type Rule, type Terms, termsOf } from './evaluation.ts'
import type { Check, Counters, Outcome, Ruling, SpendRequest } from './decision.ts'
import {
  admittedMccs,
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

/** In the order in which they are asked and told: who spends, where, when, how much, and who is asked about it. */
export const ruleTable: readonly Rule[] = [
  agentState,
  expiry,
  requireIntent,
  blocklist,
  allowlist,
  blockedMccs,
  admittedMccs,
  countries,
  firstMerchantOnly,
  boundMerchant,
  activeHours,
  cooldown,
  usage,
  maxTransaction,
  daily,
  monthly,
  budget,
  risk,
  duplicate,
  attestation,
  autoApprove,
  tolerance,
  walletState,
  funds,
]

/** A policy made ready to decide: of each rule that it sets, the judge. */
export interface Compiled {
  readonly terms: Terms | null
  readonly judges: readonly Judge[]
}

/** Null is an agent without a policy: a person approves everything. */
export function compile(rules: Rules | null): Compiled {
  const terms = rules && termsOf(rules)
  return { terms, judges: ruleTable.flatMap(({ judge }) => judge(terms) ?? []) }
}

/** What holds at every level: of those that are too low the narrowest is told, so that what it leaves is enough. */
const levels: ReadonlySet<string> = new Set(['dailyLimitEuros', 'monthlyLimitEuros', 'budget'])

const isNarrower = (one: Check, other: Check | undefined): boolean =>
  one.outcome === 'fail' &&
  other !== undefined &&
  levels.has(one.rule) &&
  levels.has(other.rule) &&
  Number(one.remaining) < Number(other.remaining)

const gravity: Readonly<Record<Outcome, number>> = { skip: 0, pass: 0, review: 1, fail: 2 }

/**
 * The one decision about money: pure, and the same whatever spends. It changes no counter; what it allows is reserved
 * by its caller, under the locks under which the counters were read.
 */
export function decide(policy: Compiled, request: SpendRequest, counters: Counters): Ruling {
  const holdEuros = holdFor(policy.terms, { request, counters })
  const question: { -readonly [Name in keyof Question]: Question[Name] } = {
    request,
    counters,
    holdEuros,
    said: formatEuros(request.amountEuros),
    soFar: 'pass',
  }
  const checks: Check[] = []
  let deciding: Check | undefined
  for (const judge of policy.judges) {
    const check = judge(question)
    if (!check) continue
    checks.push(check)
    if (gravity[check.outcome] > gravity[question.soFar] || isNarrower(check, deciding)) {
      question.soFar = check.outcome
      deciding = check
    }
  }
  const { soFar } = question
  return {
    allowed: soFar !== 'fail',
    requiresApproval: soFar === 'review',
    reason: deciding?.message ?? passedBy(checks),
    checks,
    holdEuros,
  }
}

/** Where nothing is against it, what is told is why nobody is asked. */
const passedBy = (checks: readonly Check[]): string =>
  (checks.find(({ rule }) => rule === 'autoApproveLimitEuros') ?? checks.at(-1))?.message ??
  'Nothing is against it.'
