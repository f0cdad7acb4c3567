import fc from 'fast-check'
import type { CardControls, SpendRequest, SpendRuling } from '../../../src/control/rules/decision.ts'
import { cents } from '../../../src/values/money.ts'
import { policy } from './decide.ts'
import { anyPolicy, anyRequest, mcc, merchant, nullable } from './random-spends.ts'

export const noControls: CardControls = {
  maxTransactionCents: null,
  merchantAllowlist: [],
  merchantBlocklist: [],
  allowedCountries: [],
  allowedMccs: [],
  blockedMccs: [],
  mccCategories: [],
}

export const strictControls: fc.Arbitrary<CardControls> = fc.record({
  maxTransactionCents: nullable(fc.bigInt({ min: 0n, max: 600n }).map(cents)),
  merchantAllowlist: fc.array(merchant, { maxLength: 2 }),
  merchantBlocklist: fc.array(merchant, { maxLength: 1 }),
  allowedCountries: fc.array(fc.constantFrom('DE', 'FR'), { maxLength: 2 }),
  allowedMccs: fc.array(mcc, { maxLength: 2 }),
  blockedMccs: fc.array(mcc, { maxLength: 1 }),
  mccCategories: fc.array(fc.constantFrom('software', 'travel'), { maxLength: 2 }),
})

export const anyControls = fc.oneof(
  strictControls,
  strictControls.map(({ maxTransactionCents }) => ({ ...noControls, maxTransactionCents })),
)

/** Requests that few rules refuse, so that cards and policies decide. */
export const likelyRequest = fc.tuple(anyRequest, fc.bigInt({ min: 1n, max: 600n }).map(cents)).map(
  ([request, amountCents]): SpendRequest => ({
    ...request,
    amountCents,
    agentStatus: 'active',
    policyEndsAt: null,
    budgets: [],
    risk: null,
    possibleDuplicateOf: null,
    walletFrozen: false,
  }),
)
export const aRequest = fc.oneof(anyRequest, likelyRequest)

export const mildPolicy = anyPolicy.map(rules => ({
  ...rules,
  merchantAllowlist: [],
  lockToFirstMerchant: false,
  activeHoursStart: null,
  activeHoursEnd: null,
}))
export const aPolicy = fc.oneof(anyPolicy, mildPolicy, fc.constant(policy({})))
/** Often a policy under which only a person's approval is missing. */
export const askingPolicy = fc.oneof(anyPolicy, fc.constant(policy({ autoApproveLimitEuros: 0.01 })))

export const severity = { skip: 0, pass: 0, review: 1, fail: 2 } as const
export const strictestOf = ({ checks }: Pick<SpendRuling, 'checks'>) =>
  Math.max(0, ...checks.map(({ outcome }) => severity[outcome]))
/** A spend that waits for a person needs no money yet, so these rules may review instead of failing. */
export const OF_MONEY: ReadonlySet<string> = new Set(['walletStatus', 'insufficient_funds'])
export const withoutMoney = ({ checks }: SpendRuling) => checks.filter(({ rule }) => !OF_MONEY.has(rule))
