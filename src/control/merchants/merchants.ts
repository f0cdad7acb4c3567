export { foldMerchant, type MatcherOptions, matcher } from './matcher.ts'
export { mccGroup, mccGroupNames } from './mcc-groups.ts'
export { patternProblem } from './patterns.ts'
