import { mccGroup, payeeMatcher } from '../merchants/index.ts'
import type { Check, Counters, Outcome, RuledMandate, SpendRequest } from './decision.ts'
import type { Rules } from './rules.ts'

type PayeeMatcher = ReturnType<typeof payeeMatcher>

/** The rules of a policy, with lists compiled to sets and matchers, since a policy is evaluated often. */
export interface PolicyTerms extends Rules {
  readonly findBlocked: PayeeMatcher
  readonly findAllowed: PayeeMatcher
  readonly blockedCodes: ReadonlySet<string>
  readonly allowedCodes: ReadonlySet<string>
  readonly countries: ReadonlySet<string>
}

export interface RuleInput {
  readonly request: SpendRequest
  readonly counters: Counters
  readonly holdCents: SpendRequest['amountCents']
  readonly amountInWords: string
  readonly outcomeSoFar: Outcome
  /** The mandate that replaces a person. The mandate rule sets it for later rules. */
  readonly mandate: RuledMandate | undefined
}

export type Evaluator = (input: RuleInput) => Check | undefined

export interface Rule {
  /** The member of the policy that sets the rule, by its name in JSON, since checks are shown and stored. */
  readonly name: string
  /** Another member of the policy after which its check may be named. */
  readonly alias?: string
  readonly compile: (terms: PolicyTerms | null) => Evaluator | undefined
  readonly skipMessage: string
  readonly remedy: string
}

export const termsOf = (rules: Rules): PolicyTerms => ({
  ...rules,
  findBlocked: payeeMatcher(rules.merchantBlocklist, { lookalikes: true }),
  findAllowed: payeeMatcher(rules.merchantAllowlist),
  blockedCodes: new Set(rules.blockedMccs),
  allowedCodes: new Set([...rules.allowedMccs, ...rules.mccCategories.flatMap(name => mccGroup(name) ?? [])]),
  countries: new Set(rules.allowedCountries),
})
