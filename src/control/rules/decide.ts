import { formatMoney } from '../../values/money.ts'
import {
  amountToHold,
  autoApproveRule,
  budgetRule,
  conversionRule,
  dailyLimitRule,
  maxTransactionRule,
  monthlyLimitRule,
  sufficientFundsRule,
  toleranceRule,
  walletStatusRule,
} from './amount-rules.ts'
import {
  type CardControls,
  checkWithoutLimit,
  type RuleCheck,
  type RuleOutcome,
  type SpendCounters,
  type SpendRequest,
  type SpendRuling,
  zeroSpendCounters,
} from './decision.ts'
import {
  compilePolicyTerms,
  type PolicyRule,
  type PolicyTerms,
  type RuleEvaluationInput,
  type RuleEvaluator,
} from './evaluation.ts'
import { approvingMandate, mandateRule } from './mandate-rules.ts'
import {
  allowedMccsRule,
  allowlistRule,
  blockedMccsRule,
  blocklistRule,
  boundMerchantRule,
  countriesRule,
  firstMerchantOnlyRule,
} from './merchant-rules.ts'
import {
  agentStatusRule,
  approvalStepsRule,
  attestationRule,
  cardStatusRule,
  duplicateRule,
  requireIntentRule,
  riskRule,
} from './person-rules.ts'
import { noPolicyRules, type PolicyRules } from './rules.ts'
import { activeHoursRule, cooldownRule, policyExpiryRule, usageCountRule } from './time-rules.ts'

/** All rules in the order in which they are evaluated and shown: who spends, where, when, how much, who approves. */
export const policyRuleTable: readonly PolicyRule[] = [
  agentStatusRule,
  cardStatusRule,
  policyExpiryRule,
  requireIntentRule,
  blocklistRule,
  allowlistRule,
  blockedMccsRule,
  allowedMccsRule,
  countriesRule,
  firstMerchantOnlyRule,
  boundMerchantRule,
  activeHoursRule,
  cooldownRule,
  usageCountRule,
  maxTransactionRule,
  dailyLimitRule,
  monthlyLimitRule,
  budgetRule,
  riskRule,
  duplicateRule,
  attestationRule,
  approvalStepsRule,
  mandateRule,
  autoApproveRule,
  toleranceRule,
  conversionRule,
  walletStatusRule,
  sufficientFundsRule,
]

interface CompiledRule {
  readonly name: string
  readonly position: number
  readonly evaluate: RuleEvaluator
}

export interface CompiledPolicy {
  readonly terms: PolicyTerms | null
  readonly rules: readonly CompiledRule[]
}

const compileRules = (table: readonly PolicyRule[], terms: PolicyTerms | null): CompiledRule[] =>
  table.flatMap(rule => {
    const evaluate = rule.compile(terms)
    return evaluate ? { name: rule.name, position: policyRuleTable.indexOf(rule), evaluate } : []
  })

/** Null stands for an agent without a policy, for which a person approves everything. */
export function compilePolicy(rules: PolicyRules | null): CompiledPolicy {
  const terms = rules && compilePolicyTerms(rules)
  return { terms, rules: compileRules(policyRuleTable, terms) }
}

/**
 * The rules that a card can set for itself, in the order of the table. Its limits for the day and the month
 * are budgets beside the agent's.
 */
const cardRules = [
  blocklistRule,
  allowlistRule,
  blockedMccsRule,
  allowedMccsRule,
  countriesRule,
  maxTransactionRule,
]

export function compileCardTerms(controls: CardControls): CompiledPolicy {
  const terms = compilePolicyTerms({ ...noPolicyRules, ...controls })
  const rules = compileRules(cardRules, terms).map(rule => ({
    ...rule,
    evaluate: (input: RuleEvaluationInput) => {
      const check = rule.evaluate(input)
      return check && { ...check, message: `On the card: ${check.message}` }
    },
  }))
  return { terms, rules }
}

/** The rules that judged an approved intent, and do not judge a card payment on it again. */
const judgedWithIntent: ReadonlySet<string> = new Set([
  'cooldownMinutes',
  'maxUsageCount',
  maxTransactionRule.name,
  dailyLimitRule.name,
  monthlyLimitRule.name,
  'possibleDuplicate',
  'requireAttestation',
  approvalStepsRule.name,
  autoApproveRule.name,
  'amountTolerancePercent',
  'insufficient_funds',
])

const skipJudged = (rule: CompiledRule): CompiledRule => {
  const { name } = rule
  if (!judgedWithIntent.has(name)) return rule
  const skipped = checkWithoutLimit(
    name,
    'skip',
    'This rule was checked with the intent that covers this payment.',
  )
  return { ...rule, evaluate: () => skipped }
}

/**
 * Several of these limits can be too low at once. The narrowest is the reason, so that an amount it allows
 * passes all.
 */
const nestedLimits: ReadonlySet<string> = new Set([
  dailyLimitRule.name,
  monthlyLimitRule.name,
  budgetRule.name,
])

/** If two limits leave the same rest, for example nothing, the lower limit is the narrower one. */
const leavesLess = (check: RuleCheck, other: RuleCheck): boolean => {
  if (check.limit === null || other.limit === null) return false
  const [remaining, otherRemaining] = [Number(check.remaining), Number(other.remaining)]
  return remaining < otherRemaining || (remaining === otherRemaining && check.limit < other.limit)
}

const isNarrower = (check: RuleCheck, decidingCheck: RuleCheck | undefined): boolean => {
  if (check.outcome !== 'fail' || !decidingCheck) return false
  if (check.rule === decidingCheck.rule) return leavesLess(check, decidingCheck)
  const areNested = nestedLimits.has(check.rule) && nestedLimits.has(decidingCheck.rule)
  return areNested && Number(check.remaining) < Number(decidingCheck.remaining)
}

const severity: Readonly<Record<RuleOutcome, number>> = { skip: 0, pass: 0, review: 1, fail: 2 }

/** In the order of the table. Of two rules of one name, the card's comes first. */
function rulesFor(
  policy: CompiledPolicy,
  request: SpendRequest,
  card: CompiledPolicy | null,
): readonly CompiledRule[] {
  const ofPolicy = request.kind === 'card' && request.intentId ? policy.rules.map(skipJudged) : policy.rules
  if (!card) return ofPolicy
  return [...card.rules, ...ofPolicy].sort((one, other) => one.position - other.position)
}

/**
 * The only decision about money: pure, and the same for intents, cards and payments. It changes no counter:
 * the caller reserves what is allowed, under the locks under which it read the counters. If a card pays, or
 * is named, its terms apply as well, and of two checks of one rule the narrower is kept.
 */
export function decideSpendByRules(
  policy: CompiledPolicy,
  request: SpendRequest,
  counters: SpendCounters,
  card: CompiledPolicy | null = request.card ? compileCardTerms(request.card) : null,
): SpendRuling {
  const holdCents = amountToHold(policy.terms, { request, counters })
  const input: { -readonly [Name in keyof RuleEvaluationInput]: RuleEvaluationInput[Name] } = {
    request,
    counters,
    holdCents,
    amountInWords: formatMoney(request.amountCents),
    outcomeSoFar: 'pass',
    mandate: undefined,
  }
  /** When card and policy check the same rule, they are adjacent, and the stricter check is kept. */
  const checks: RuleCheck[] = []
  let lastPosition = -1
  let decidingCheck: RuleCheck | undefined
  for (const { position, evaluate } of rulesFor(policy, request, card)) {
    const check = evaluate(input)
    if (!check) continue
    const ofCard = position === lastPosition ? checks.pop() : undefined
    checks.push(ofCard && !isStricter(check, ofCard) ? ofCard : check)
    lastPosition = position
    if (check.rule === 'mandate' && check.outcome === 'pass')
      input.mandate = request.mandate ? approvingMandate(request.mandate, holdCents) : undefined
    if (severity[check.outcome] > severity[input.outcomeSoFar] || isNarrower(check, decidingCheck)) {
      input.outcomeSoFar = check.outcome
      decidingCheck = check
    }
  }
  return {
    ...verdictOn(request, input.outcomeSoFar),
    reason: reasonOf(request, decidingCheck) ?? reasonToPass(request, checks),
    checks,
    holdCents,
    ...(input.mandate && input.outcomeSoFar === 'pass' ? { mandate: input.mandate } : {}),
  }
}

/** A card network cannot wait for a person. */
function verdictOn(
  { kind }: SpendRequest,
  outcome: RuleOutcome,
): Pick<SpendRuling, 'allowed' | 'requiresApproval'> {
  const asksPerson = outcome === 'review'
  if (kind === 'card') return { allowed: !asksPerson && outcome !== 'fail', requiresApproval: false }
  return { allowed: outcome !== 'fail', requiresApproval: asksPerson }
}

const DECLARE_INTENT =
  'A card payment cannot wait for an approval: declare an intent for this payment (POST /intents), have it approved, and try again.'
/**
 * Another intent would not help: payee, place, time and risk are judged whether an intent covers the payment
 * or not.
 */
const DECLARED_ALREADY =
  'A card payment cannot wait for an approval, and an intent already covers this payment.'

function reasonOf(
  { kind, intentId }: SpendRequest,
  decidingCheck: RuleCheck | undefined,
): string | undefined {
  if (kind !== 'card' || decidingCheck?.outcome !== 'review') return decidingCheck?.message
  return `${decidingCheck.message} ${intentId ? DECLARED_ALREADY : DECLARE_INTENT}`
}

/** The worse outcome is the stricter one; with equal outcomes, the narrower limit. */
const isStricter = (check: RuleCheck, other: RuleCheck): boolean =>
  check.outcome === other.outcome
    ? leavesLess(check, other)
    : severity[check.outcome] > severity[other.outcome]

function reasonToPass({ kind, intentId }: SpendRequest, checks: readonly RuleCheck[]): string {
  if (kind === 'card' && intentId) return 'An approved intent covers this payment.'
  const byMandate = checks.find(({ rule, outcome }) => rule === 'mandate' && outcome === 'pass')
  const approval = byMandate ?? checks.find(({ rule }) => rule === autoApproveRule.name)
  return (approval ?? checks.at(-1))?.message ?? 'All rules pass.'
}

interface RuleExplanation {
  readonly rule: string
  readonly outcome: RuleCheck['outcome']
  readonly message: string
  readonly remedy: string | null
}

export const explainChecks = (checks: readonly RuleCheck[], isWaiting: boolean): RuleExplanation[] =>
  policyRuleTable.map(({ name, alias, skipMessage, remedy }) => {
    const check = checks.find(({ rule }) => rule === name || rule === alias)
    if (!check) return { rule: name, outcome: 'skip', message: skipMessage, remedy: null }
    const { rule, outcome, message } = check
    const isObstacle = outcome === 'fail' || (outcome === 'review' && isWaiting)
    return { rule, outcome, message, remedy: isObstacle ? remedy : null }
  })

type Spend = Pick<SpendRequest, 'at' | 'amountCents' | 'merchant' | 'payeeIban' | 'mcc' | 'country'>

export const decideWithoutHistory = (rules: PolicyRules | null, spend: Spend): SpendRuling =>
  decideSpendByRules(
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
      availableCents: null,
    },
    zeroSpendCounters,
  )
