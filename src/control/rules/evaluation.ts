import { matcher, mccGroup } from '../merchants/index.ts'
import type { Check, Counters, Outcome, SpendRequest } from './decision.ts'
import type { Rules } from './rules.ts'

type Matcher = ReturnType<typeof matcher>

/** A policy made ready to be asked often: its lists are sets, its patterns are matchers. */
export interface Terms extends Rules {
  readonly blocks: Matcher
  readonly admits: Matcher
  readonly blockedCodes: ReadonlySet<string>
  readonly admittedCodes: ReadonlySet<string>
  readonly countries: ReadonlySet<string>
}

/** What the rules are asked, one after the other; what they have said so far decides about the money. */
export interface Question {
  readonly request: SpendRequest
  readonly counters: Counters
  readonly holdEuros: SpendRequest['amountEuros']
  /** The amount in words, which most rules say. */
  readonly said: string
  readonly soFar: Outcome
}

export type Judge = (question: Question) => Check | undefined

/** One rule: its judge under given terms, none where they do not set it; and what is said to people about it. */
export interface Rule {
  readonly name: string
  /** The other member of the policy that its check may be named by. */
  readonly also?: string
  readonly judge: (terms: Terms | null) => Judge | undefined
  /** Where the rule is not set, or has nothing against it. */
  readonly silent: string
  /** What would have to change for a yes. */
  readonly remedy: string
}

export const termsOf = (rules: Rules): Terms => ({
  ...rules,
  blocks: matcher(rules.merchantBlocklist, { lookalikes: true }),
  admits: matcher(rules.merchantAllowlist),
  blockedCodes: new Set(rules.blockedMccs),
  admittedCodes: new Set([
    ...rules.allowedMccs,
    ...rules.mccCategories.flatMap(name => mccGroup(name) ?? []),
  ]),
  countries: new Set(rules.allowedCountries),
})
