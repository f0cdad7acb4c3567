export { withTolerance } from './amount-rules.ts'
export { contradictionsIn, shortList, type Warning } from './contradictions.ts'
export {
  type CompiledPolicy,
  compileCardTerms,
  compilePolicy,
  decide,
  decideIsolated,
  explainChecks,
  ruleTable,
} from './decide.ts'
export {
  type Budget,
  type CardControls,
  type Check,
  type Counters,
  checkOutcomes,
  isStricter,
  type MandateLimit,
  type MandateUse,
  type Risk,
  type RuledMandate,
  type Ruling,
  remainingOf,
  type SpendRequest,
  type Verdict,
  verdictOf,
  verdicts,
} from './decision.ts'
export type { Rule } from './evaluation.ts'
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
export { harmlessSituation, probeCases, type Situation } from './situations.ts'
