import { type Euros, formatEuros } from '../../values/money.ts'

export const outcomes = ['pass', 'fail', 'review', 'skip'] as const
export type Outcome = (typeof outcomes)[number]

/** What one rule says. Figures are euros, minutes or a number of payments, whatever the rule counts. */
export interface Check {
  readonly rule: string
  readonly outcome: Outcome
  readonly limit: number | null
  readonly used: number | null
  readonly remaining: number | null
  readonly message: string
}

/** What a level of the hierarchy may spend in all, and what of that is reserved or spent. */
export interface Budget {
  readonly level: 'owner' | 'agent' | 'run' | 'delegation' | 'token' | 'card'
  readonly id: string
  readonly name: string
  readonly limitEuros: Euros
  readonly usedEuros: Euros
  /** What it is for, where it is not for good. */
  readonly period?: 'day' | 'month'
  /** The only merchant it is good for. */
  readonly merchant?: string | null
}

/** How unusual it is, and what follows from that by the owner's thresholds. */
export interface Risk {
  readonly score: number
  readonly parts: readonly { readonly signal: string; readonly points: number; readonly message: string }[]
  readonly outcome: 'pass' | 'review' | 'deny' | 'freeze'
}

/** That a person says yes, and when a passkey has said so too. */
export interface Approval {
  readonly attestedAt: Date | null
}

/** Somebody wants to spend: all that is asked of a policy, whatever it is that spends. */
export interface SpendRequest {
  readonly kind: 'intent' | 'card' | 'payment'
  readonly at: Date
  readonly amountEuros: Euros
  /** Who is paid: where the payment goes to a record of ours, its name and its account. */
  readonly merchant: string
  readonly payeeIban?: string | null | undefined
  readonly mcc: string | null
  readonly country: string | null
  readonly agentStatus: string
  readonly policyEndsAt: Date | null
  /** The approved intent that it belongs to. */
  readonly intentId: string | null
  readonly possibleDuplicateOf: string | null
  readonly budgets: readonly Budget[]
  readonly risk: Risk | null
  readonly approval: Approval | null
  readonly walletFrozen: boolean
  /** What can be spent; null where it is not asked about. */
  readonly availableEuros: Euros | null
}

/** What the agent has spent so far: reserved and spent together. */
export interface Counters {
  readonly dayEuros: Euros
  readonly monthEuros: Euros
  /** Completed spends and open intents together; and how many of them are open. */
  readonly uses: number
  readonly openUses?: number | undefined
  readonly lastSpendAt: Date | null
  readonly firstMerchant: string | null
}

export const untouched: Counters = {
  dayEuros: 0n,
  monthEuros: 0n,
  uses: 0,
  openUses: 0,
  lastSpendAt: null,
  firstMerchant: null,
}

export interface Ruling {
  readonly allowed: boolean
  /** It is within the rules, and one of them asks for a person. */
  readonly requiresApproval: boolean
  readonly reason: string
  readonly checks: Check[]
  /** What is kept for it: the amount, and what is tolerated above it. */
  readonly holdEuros: Euros
}

export const figure = (amount: Euros): number => Number(amount) / 100

/** A check without figures. */
export const says = (rule: string, outcome: Outcome, message: string): Check => ({
  rule,
  outcome,
  limit: null,
  used: null,
  remaining: null,
  message,
})

export interface Figures {
  readonly limit: Euros
  readonly used: Euros
}

export const leftOf = ({ limit, used }: Figures): Euros => (used < limit ? limit - used : 0n)

/** An amount that is asked for, in words too. */
interface Asked {
  readonly amount: Euros
  readonly said: string
}

/** A check of an amount against what is left of a limit; the title says its name and height. */
export function fits(rule: string, title: string, { amount, said }: Asked, figures: Figures): Check {
  const { limit, used } = figures
  const left = leftOf(figures)
  const within = amount <= left
  const verb = within ? `leaves room for ${said}` : left > 0n ? `is too low for ${said}` : 'is reached'
  return {
    rule,
    outcome: within ? 'pass' : 'fail',
    limit: figure(limit),
    used: figure(used),
    remaining: figure(left),
    message: `${title} ${verb}: ${formatEuros(used)} used, ${formatEuros(left)} left.`,
  }
}
