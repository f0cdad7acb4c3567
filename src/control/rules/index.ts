export { addTolerance } from './amount-rules.ts'
export { joinFirstTen, type PolicyWarning, policyContradictions } from './contradictions.ts'
export {
  type CompiledPolicy,
  compileCardTerms,
  compilePolicy,
  decideSpendByRules,
  decideWithoutHistory,
  explainChecks,
  policyRuleTable,
} from './decide.ts'
export {
  type ApprovingMandate,
  type BudgetUsage,
  type CardControls,
  isStricterVerdict,
  type MandateLimitUsage,
  type MandateUsage,
  type RiskResult,
  type RuleCheck,
  remainingLimit,
  ruleOutcomes,
  type SpendCounters,
  type SpendRequest,
  type SpendRuling,
  type SpendVerdict,
  spendVerdict,
  spendVerdicts,
} from './decision.ts'
export type { PolicyRule } from './evaluation.ts'
export { mandateLabel, mandateShortfall } from './mandate-rules.ts'
export { unusableCardMessage } from './person-rules.ts'
export { findPreset, policyPresets } from './presets.ts'
export { policyRuleInWords, policyRuleTitle } from './rule-words.ts'
export {
  decodePolicyRules,
  encodePolicyRules,
  expirationActions,
  mccCodeSchema,
  merchantPatternSchema,
  noPolicyRules,
  PolicyCreate,
  type PolicyRules,
  pickPolicyRules,
  policyRuleFields,
  policyRuleNames,
} from './rules.ts'
export { allowedSpendSituation, ruleProbeCases, type SpendSituation } from './situations.ts'
export { limitWidening, policyWidenings } from './widening.ts'
