import type { HandlerOf } from '../../kernel/contract/operation.ts'
import {
  allowedSpendSituation,
  type CompiledPolicy,
  compilePolicy,
  decideSpendByRules,
  type PolicyRule,
  type PolicyRules,
  type PolicyWarning,
  pickPolicyRules,
  policyContradictions,
  policyRuleTable,
  type RuleCheck,
  ruleProbeCases,
  type SpendSituation,
  type SpendVerdict,
  spendVerdict,
} from '../rules/index.ts'
import { findPolicy } from './policy-versioning.ts'
import type { policySimulationApi } from './simulation-api.ts'

export interface ProbedSituation {
  readonly situation: SpendSituation
  readonly outcome: RuleCheck['outcome']
  readonly message: string
  readonly verdict: SpendVerdict
  readonly reason: string
}

export interface ProbedRule {
  readonly rule: string
  readonly stops: ProbedSituation | null
  readonly passes: ProbedSituation | null
}

function probeSituation(
  policy: CompiledPolicy,
  rule: PolicyRule,
  situation: SpendSituation,
): ProbedSituation {
  const ruling = decideSpendByRules(policy, situation, situation)
  const check = ruling.checks.find(({ rule: name }) => name === rule.name || name === rule.alias)
  const message = check?.message ?? rule.skipMessage
  // No rule checks the amount that the merchant finally charges: the hold is the limit, including the
  // tolerance.
  if (situation.chargedCents !== null && situation.chargedCents > ruling.holdCents)
    return { situation, message, outcome: 'fail', verdict: 'denied', reason: message }
  return {
    situation,
    message,
    outcome: check?.outcome ?? 'skip',
    verdict: spendVerdict(ruling, situation.approval !== null),
    reason: ruling.reason,
  }
}

const isStopped = ({ outcome }: ProbedSituation): boolean => outcome === 'fail' || outcome === 'review'

function probeRule(
  rule: PolicyRule,
  policy: CompiledPolicy,
  harmless: SpendSituation,
): ProbedRule | undefined {
  const { terms } = policy
  const casesFor = ruleProbeCases[rule.name]
  if (!terms || !casesFor || !isSet(rule, policy)) return undefined
  const cases = casesFor(terms, harmless)
  const probeAll = (changes: typeof cases.stopped): ProbedSituation[] =>
    changes.map(change => probeSituation(policy, rule, { ...harmless, ...change }))
  const stopped = probeAll(cases.stopped).filter(isStopped)
  const passing = probeAll(cases.passing).filter(situation => !isStopped(situation))
  return {
    rule: rule.alias && terms.mccCategories.length === 0 ? rule.alias : rule.name,
    stops: stopped.find(({ message, reason }) => message === reason) ?? stopped[0] ?? null,
    passes: passing.find(({ verdict }) => verdict === 'allowed') ?? passing[0] ?? null,
  }
}

/** A tolerance of 0 % has no evaluator, but can still be intended. */
const isSet = ({ name, compile: compileRule }: PolicyRule, { terms }: CompiledPolicy): boolean =>
  compileRule(terms) !== undefined ||
  (name === 'amountTolerancePercent' && terms?.amountTolerancePercent === 0)

/** Each answer is a decision of `decide`, not a reading of the rules. */
export function probeRules(
  rules: PolicyRules,
  now: Date,
): { rules: ProbedRule[]; warnings: PolicyWarning[] } {
  const policy = compilePolicy(rules)
  if (!policy.terms) return { rules: [], warnings: [] }
  const harmless = allowedSpendSituation(policy.terms, now)
  return {
    rules: policyRuleTable.flatMap(rule => probeRule(rule, policy, harmless) ?? []),
    warnings: policyContradictions(policy.terms),
  }
}

const situationResponse = (probed: ProbedSituation | null) =>
  probed && {
    ...probed,
    situation: {
      ...probed.situation,
      payeeIban: probed.situation.payeeIban ?? null,
      attestedAt: probed.situation.approval?.attestedAt ?? null,
    },
  }

export const probePolicy: HandlerOf<typeof policySimulationApi.probe> = async (
  { params },
  { em, now, refuse },
) => {
  const policy = await findPolicy(em, params.id)
  if (!policy) return refuse('policy_not_found')
  const { rules, warnings } = probeRules(pickPolicyRules(policy), now)
  return {
    policyId: policy.id,
    version: policy.version,
    rules: rules.map(({ rule, stops, passes }) => ({
      rule,
      stops: situationResponse(stops),
      passes: situationResponse(passes),
    })),
    warnings,
  }
}
