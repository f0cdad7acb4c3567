import type { Conversion } from '../../money/exchange-rates/index.ts'
import { type Cents, formatMoney, NO_CENTS, subtractCents } from '../../values/money.ts'

export const spendVerdicts = ['allowed', 'person', 'denied'] as const

export type SpendVerdict = (typeof spendVerdicts)[number]

/** An approval does not wait for a person again. */
export const spendVerdict = (
  { allowed, requiresApproval }: Pick<SpendRuling, 'allowed' | 'requiresApproval'>,
  isApproval = false,
): SpendVerdict => {
  if (!allowed) return 'denied'
  return requiresApproval && !isApproval ? 'person' : 'allowed'
}

export const isStricterVerdict = (verdict: SpendVerdict, other: SpendVerdict): boolean =>
  spendVerdicts.indexOf(verdict) > spendVerdicts.indexOf(other)

export const ruleOutcomes = ['pass', 'fail', 'review', 'skip'] as const
export type RuleOutcome = (typeof ruleOutcomes)[number]

export interface RuleCheck {
  readonly rule: string
  readonly outcome: RuleOutcome
  readonly limit: number | null
  readonly used: number | null
  readonly remaining: number | null
  readonly message: string
}

/** A budget above, below or beside the agent's policy, and how much of it is reserved or spent. */
export interface BudgetUsage {
  readonly level: 'owner' | 'agent' | 'run' | 'delegation' | 'token' | 'card'
  readonly id: string
  readonly name: string
  readonly limitCents: Cents
  readonly usedCents: Cents
  readonly period?: 'day' | 'month'
  readonly merchant?: string | null
}

export interface MandateLimitUsage {
  readonly period: 'day' | 'month' | 'all'
  readonly limitCents: Cents
  readonly usedCents: Cents
}

export interface MandateUsage {
  readonly id: string
  readonly name: string | null
  readonly expiresAt: Date
  readonly perTransactionCents: Cents | null
  readonly limits: readonly MandateLimitUsage[]
  /** How many payments it allows, and how many were made or are open; null for any number. */
  readonly count: { readonly limit: number; readonly used: number } | null
}

/**
 * The mandate that approves a spend, and the rest that remains after the spend; null for limits that it does
 * not set.
 */
export interface ApprovingMandate {
  readonly id: string
  readonly name: string | null
  readonly expiresAt: string
  readonly perTransactionEuros: number | null
  readonly dayLeftEuros: number | null
  readonly monthLeftEuros: number | null
  readonly totalLeftEuros: number | null
  readonly countLeft: number | null
}

export interface RiskResult {
  readonly score: number
  readonly parts: readonly { readonly signal: string; readonly points: number; readonly message: string }[]
  readonly outcome: 'pass' | 'review' | 'deny' | 'freeze'
}

interface Approval {
  readonly attestedAt: Date | null
}

export interface CardControls {
  readonly maxTransactionCents: Cents | null
  readonly merchantAllowlist: string[]
  readonly merchantBlocklist: string[]
  readonly allowedCountries: string[]
  readonly allowedMccs: string[]
  readonly blockedMccs: string[]
  readonly mccCategories: string[]
}

export interface CardStatusReference {
  readonly id: string
  readonly status: 'pending' | 'inactive' | 'active' | 'frozen' | 'closed'
}

export interface SpendRequest {
  readonly kind: 'intent' | 'card' | 'payment'
  readonly at: Date
  readonly amountCents: Cents
  /** The whole payment, if the amount is an increment of it. */
  readonly paymentCents?: Cents | undefined
  readonly merchant: string
  /** Other likely names of the payee, for the blocklist. */
  readonly alsoNamed?: readonly string[] | undefined
  /** The names that a card network proves. Rules that admit a payee compare only these, if there are any. */
  readonly provenNames?: readonly string[] | undefined
  readonly payeeIban?: string | null | undefined
  readonly mcc: string | null
  readonly country: string | null
  readonly agentStatus: string
  readonly policyEndsAt: Date | null
  readonly intentId: string | null
  readonly possibleDuplicateOf: string | null
  readonly budgets: readonly BudgetUsage[]
  readonly risk: RiskResult | null
  readonly approval: Approval | null
  readonly walletFrozen: boolean
  /** The money in the wallet; null if funds are not checked. */
  readonly availableCents: Cents | null
  /** The controls of the card that pays, or that the intent names; missing in decisions without a card. */
  readonly card?: CardControls | null | undefined
  readonly namedCard?: CardStatusReference | null | undefined
  /** The active mandate that covers an intent; of several, the one that ends first. */
  readonly mandate?: MandateUsage | null | undefined
  /** Why none of the agent's active mandates covers the intent, in a sentence; missing if the agent has no mandate. */
  readonly outsideMandates?: string | null | undefined
  /** Set if the policy's auto-approve limit may not replace a person: only the `mandate` may, or nothing. */
  readonly approvedOnlyBy?: 'mandate' | 'person' | undefined
  /** How the merchant's price in another currency became the amount; missing for a price in euros. */
  readonly conversion?: Conversion | null | undefined
}

export interface SpendCounters {
  readonly dayCents: Cents
  readonly monthCents: Cents
  readonly uses: number
  /** The open intents among the uses, which old decisions do not contain. */
  readonly openUses?: number | undefined
  readonly lastSpendAt: Date | null
  readonly firstMerchant: string | null
}

export const zeroSpendCounters: SpendCounters = {
  dayCents: NO_CENTS,
  monthCents: NO_CENTS,
  uses: 0,
  openUses: 0,
  lastSpendAt: null,
  firstMerchant: null,
}

export interface SpendRuling {
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly reason: string
  readonly checks: RuleCheck[]
  readonly holdCents: Cents
  readonly mandate?: ApprovingMandate
}

export const centsToEuroNumber = (amount: Cents): number => Number(amount) / 100

export const checkWithoutLimit = (rule: string, outcome: RuleOutcome, message: string): RuleCheck => ({
  rule,
  outcome,
  limit: null,
  used: null,
  remaining: null,
  message,
})

interface LimitUsage {
  readonly limit: Cents
  readonly used: Cents
}

export const remainingLimit = ({ limit, used }: LimitUsage): Cents =>
  used < limit ? subtractCents(limit, used) : NO_CENTS

interface RequestedAmount {
  readonly amount: Cents
  readonly inWords: string
}

export function checkLimit(
  rule: string,
  title: string,
  { amount, inWords }: RequestedAmount,
  usage: LimitUsage,
): RuleCheck {
  const { limit, used } = usage
  const remaining = remainingLimit(usage)
  const isWithin = amount <= remaining
  const shortage = remaining > 0n ? `is too low for ${inWords}` : 'is reached'
  const verdict = isWithin ? `leaves room for ${inWords}` : shortage
  return {
    rule,
    outcome: isWithin ? 'pass' : 'fail',
    limit: centsToEuroNumber(limit),
    used: centsToEuroNumber(used),
    remaining: centsToEuroNumber(remaining),
    message: `${title} ${verdict}: ${formatMoney(used)} used, ${formatMoney(remaining)} left.`,
  }
}
