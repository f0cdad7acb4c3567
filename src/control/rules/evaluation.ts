import { mccsOfGroup, payeeMatcher } from '../merchants/index.ts'
import type { ApprovingMandate, RuleCheck, RuleOutcome, SpendCounters, SpendRequest } from './decision.ts'
import type { PolicyRules } from './rules.ts'

type PayeeMatcher = ReturnType<typeof payeeMatcher>

/** The rules of a policy, with lists compiled to sets and matchers, since a policy is evaluated often. */
export interface PolicyTerms extends PolicyRules {
  readonly findBlocked: PayeeMatcher
  readonly findAllowed: PayeeMatcher
  readonly blockedCodes: ReadonlySet<string>
  readonly allowedCodes: ReadonlySet<string>
  readonly countries: ReadonlySet<string>
}

export interface RuleEvaluationInput {
  readonly request: SpendRequest
  readonly counters: SpendCounters
  readonly holdCents: SpendRequest['amountCents']
  readonly amountInWords: string
  readonly outcomeSoFar: RuleOutcome
  /** The mandate that replaces a person. The mandate rule sets it for later rules. */
  readonly mandate: ApprovingMandate | undefined
}

export type RuleEvaluator = (input: RuleEvaluationInput) => RuleCheck | undefined

export interface PolicyRule {
  /** The member of the policy that sets the rule, by its name in JSON, since checks are shown and stored. */
  readonly name: string
  /** Another member of the policy after which its check may be named. */
  readonly alias?: string
  readonly compile: (terms: PolicyTerms | null) => RuleEvaluator | undefined
  readonly skipMessage: string
  readonly remedy: string
}

/** The merchant categories of a policy and those of its groups; empty: all. */
export const allowedCodesOf = ({ allowedMccs, mccCategories }: PolicyRules): ReadonlySet<string> =>
  new Set([...allowedMccs, ...[...new Set(mccCategories)].flatMap(name => mccsOfGroup(name) ?? [])])

export const compilePolicyTerms = (rules: PolicyRules): PolicyTerms => ({
  ...rules,
  findBlocked: payeeMatcher(rules.merchantBlocklist, { lookalikes: true }),
  findAllowed: payeeMatcher(rules.merchantAllowlist),
  blockedCodes: new Set(rules.blockedMccs),
  allowedCodes: allowedCodesOf(rules),
  countries: new Set(rules.allowedCountries),
})
