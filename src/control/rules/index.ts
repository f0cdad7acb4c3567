export type { Rule } from './evaluation.ts'
export { contradictionsIn, type Warning } from './contradictions.ts'
export { type Compiled, compile, decide, ruleTable } from './decide.ts'
export { decideAlone } from './decide-isolated.ts'
export {
  type Budget,
  type Check,
  type Counters,
  leftOf,
  outcomes,
  type Risk,
  type Ruling,
  type SpendRequest,
} from './decision.ts'
export { explain } from './explain.ts'
export { listed } from './short-list.ts'
export { presetOf, presets } from './presets.ts'
export {
  expirationActions,
  PolicyCreate,
  type Rules,
  ruleNames,
  rules,
  rulesFromRecord,
  rulesOf,
  rulesOnRecord,
} from './rules.ts'
export { harmlessUnder, type Situation, sides } from './situations.ts'
export { isStricter, type Verdict, verdictOf, verdicts } from './verdict.ts'
