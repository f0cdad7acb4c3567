export { contradictionsIn, type Warning } from './contradictions.ts'
export { type CompiledPolicy, compile, decide, ruleTable } from './decide.ts'
export { decideIsolated } from './decide-isolated.ts'
export {
  type Budget,
  type Check,
  type Counters,
  outcomes,
  type Risk,
  type Ruling,
  remainingOf,
  type SpendRequest,
} from './decision.ts'
export type { Rule } from './evaluation.ts'
export { explain } from './explain.ts'
export { presetOf, presets } from './presets.ts'
export {
  encodeRules,
  expirationActions,
  PolicyCreate,
  type Rules,
  ruleNames,
  rules,
  rulesOf,
} from './rules.ts'
export { shortList } from './short-list.ts'
export { harmlessSituation, probeCases, type Situation } from './situations.ts'
export { isStricter, type Verdict, verdictOf, verdicts } from './verdict.ts'
