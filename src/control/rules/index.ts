export { withTolerance } from './amount-rules.ts'
export { contradictionsIn, type Warning } from './contradictions.ts'
export { type CompiledPolicy, compileCardTerms, compilePolicy, decide, ruleTable } from './decide.ts'
export { decideIsolated } from './decide-isolated.ts'
export {
  type Budget,
  type CardControls,
  type Check,
  type Counters,
  checkOutcomes,
  type MandateLimit,
  type MandateUse,
  type Risk,
  type RuledMandate,
  type Ruling,
  remainingOf,
  type SpendRequest,
} from './decision.ts'
export type { Rule } from './evaluation.ts'
export { explainChecks } from './explain.ts'
export { lackOf, mandateInWords } from './mandate-rules.ts'
export { cardProblem } from './person-rules.ts'
export { presetOf, presets } from './presets.ts'
export {
  encodeRules,
  expirationActions,
  mccCode,
  merchantPattern,
  PolicyCreate,
  type Rules,
  ruleFields,
  ruleNames,
  rulesOf,
} from './rules.ts'
export { shortList } from './short-list.ts'
export { harmlessSituation, probeCases, type Situation } from './situations.ts'
export { isStricter, type Verdict, verdictOf, verdicts } from './verdict.ts'
