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
import type { CardControls, Check, Counters, Outcome, Ruling, SpendRequest } from './decision.ts'
import { plainCheck } from './decision.ts'
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
import { noRules, type Rules } from './rules.ts'
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

interface CompiledRule {
  readonly name: string
  readonly evaluate: Evaluator
}

/** A policy made ready to decide, with an evaluator for each rule that it sets. */
export interface CompiledPolicy {
  readonly terms: PolicyTerms | null
  readonly rules: readonly CompiledRule[]
}

const compileRules = (table: readonly Rule[], terms: PolicyTerms | null): CompiledRule[] =>
  table.flatMap(({ name, compile }) => {
    const evaluate = compile(terms)
    return evaluate ? { name, evaluate } : []
  })

/** null = an agent without a policy: a person approves everything. */
export function compilePolicy(rules: Rules | null): CompiledPolicy {
  const terms = rules && termsOf(rules)
  return { terms, rules: compileRules(ruleTable, terms) }
}

/** The rules that a card can set for itself. Its limits for the day and the month are budgets beside the agent's. */
const cardRules = [blocklist, allowlist, blockedMccs, allowedMccs, countries, maxTransaction]

/** The terms of a card, which hold beside the policy of its agent. */
export function compileCardTerms(controls: CardControls): CompiledPolicy {
  const terms = termsOf({ ...noRules, ...controls })
  const rules = compileRules(cardRules, terms).map(({ name, evaluate }) => ({
    name,
    evaluate: (input: RuleInput) => {
      const check = evaluate(input)
      return check && { ...check, message: `On the card: ${check.message}` }
    },
  }))
  return { terms, rules }
}

/** What an approved intent was judged by, so that a card payment on it is not judged by it again. */
const judgedWithIntent: ReadonlySet<string> = new Set([
  'cooldownMinutes',
  'maxUsageCount',
  'maxTransactionEuros',
  'dailyLimitEuros',
  'monthlyLimitEuros',
  'possibleDuplicate',
  'requireAttestation',
  'autoApproveLimitEuros',
  'amountTolerancePercent',
  'insufficient_funds',
])

const skipJudged = ({ name, evaluate }: CompiledRule): CompiledRule => ({
  name,
  evaluate: judgedWithIntent.has(name)
    ? () => plainCheck(name, 'skip', 'It was judged with the intent that covers this payment.')
    : evaluate,
})

/** Limits of which several can be too low: the reason is the narrowest, so that what it leaves is enough for all. */
const nestedLimits: ReadonlySet<string> = new Set(['dailyLimitEuros', 'monthlyLimitEuros', 'budget'])

const isNarrower = (check: Check, decidingCheck: Check | undefined): boolean =>
  check.outcome === 'fail' &&
  decidingCheck !== undefined &&
  ((nestedLimits.has(check.rule) && nestedLimits.has(decidingCheck.rule)) ||
    (check.limit !== null && check.rule === decidingCheck.rule)) &&
  Number(check.remaining) < Number(decidingCheck.remaining)

const severity: Readonly<Record<Outcome, number>> = { skip: 0, pass: 0, review: 1, fail: 2 }

/** The rules in the order in which they are evaluated: the card's before the policy's, which end with the money. */
function rulesFor(
  policy: CompiledPolicy,
  request: SpendRequest,
  card: CompiledPolicy | null,
): CompiledRule[] {
  const ofPolicy = request.kind === 'card' && request.intentId ? policy.rules.map(skipJudged) : policy.rules
  return card ? [...card.rules, ...ofPolicy] : [...ofPolicy]
}

/**
 * The one decision about money: pure, and the same whatever spends. It changes no counter: the caller reserves what is
 * allowed, under the locks under which it read the counters. Where a card pays, or is named, its terms hold as well, and
 * of two checks of one rule the narrower is kept.
 */
export function decide(
  policy: CompiledPolicy,
  request: SpendRequest,
  counters: Counters,
  card: CompiledPolicy | null = request.card ? compileCardTerms(request.card) : null,
): Ruling {
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
  for (const { evaluate } of rulesFor(policy, request, card)) {
    const check = evaluate(input)
    if (!check) continue
    checks.push(check)
    if (severity[check.outcome] > severity[input.outcomeSoFar] || isNarrower(check, decidingCheck)) {
      input.outcomeSoFar = check.outcome
      decidingCheck = check
    }
  }
  const allChecks = card ? narrowestOfEach(checks) : checks
  return {
    ...verdictOn(request, input.outcomeSoFar),
    reason: reasonOf(request, decidingCheck) ?? reasonToPass(allChecks),
    checks: allChecks,
    holdEuros,
  }
}

/** Nobody can be asked while a card network waits. */
function verdictOn({ kind }: SpendRequest, outcome: Outcome): Pick<Ruling, 'allowed' | 'requiresApproval'> {
  const asksPerson = outcome === 'review'
  if (kind === 'card') return { allowed: !asksPerson && outcome !== 'fail', requiresApproval: false }
  return { allowed: outcome !== 'fail', requiresApproval: asksPerson }
}

const DECLARE_INTENT =
  'A card cannot wait for a person: declare an intent for this payment (POST /intents), have it approved, and try again.'

function reasonOf({ kind }: SpendRequest, decidingCheck: Check | undefined): string | undefined {
  if (kind !== 'card' || decidingCheck?.outcome !== 'review') return decidingCheck?.message
  return `${decidingCheck.message} ${DECLARE_INTENT}`
}

/** One check of each rule, in the order of the table: of the card's and the policy's the stricter, or the narrower. */
function narrowestOfEach(checks: readonly Check[]): Check[] {
  const byRule = new Map<string, Check>()
  for (const check of checks) {
    const other = byRule.get(check.rule)
    if (!other || isStricterCheck(check, other)) byRule.set(check.rule, check)
  }
  return [...byRule.values()].sort((one, other) => positionOf(one) - positionOf(other))
}

const isStricterCheck = (check: Check, other: Check): boolean =>
  severity[check.outcome] > severity[other.outcome] ||
  (check.outcome === other.outcome &&
    check.remaining !== null &&
    check.remaining < (other.remaining ?? Number.POSITIVE_INFINITY))

const positions = new Map(
  ruleTable.flatMap(({ name, alias }, position) =>
    [name, alias ?? name].map(rule => [rule, position] as const),
  ),
)
const positionOf = ({ rule }: Check): number => positions.get(rule) ?? ruleTable.length

/** The reason of a spend that no rule stops: why no person is asked. */
const reasonToPass = (checks: readonly Check[]): string =>
  (checks.find(({ rule }) => rule === 'autoApproveLimitEuros') ?? checks.at(-1))?.message ??
  'Nothing is against it.'
