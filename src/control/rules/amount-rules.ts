import { originalOfConversion } from '../../money/exchange-rates/index.ts'
import { jsonName } from '../../values/json-names.ts'
import { addCents, type Cents, formatMoney, fractionOf, subtractCents } from '../../values/money.ts'
import { formatOriginal } from '../../values/original-amount.ts'
import {
  type BudgetUsage,
  centsToEuroNumber,
  checkLimit,
  checkWithoutLimit,
  type RuleOutcome,
  remainingLimit,
  type SpendRequest,
} from './decision.ts'
import type { PolicyRule, PolicyTerms, RuleEvaluationInput, RuleEvaluator } from './evaluation.ts'

const MAX_TRANSACTION = jsonName('maxTransactionCents')
const AUTO_APPROVE_LIMIT = jsonName('autoApproveLimitCents')

/** Checks the amount of one payment by itself. The limit's message is formatted once, not at each check. */
function checkPayment(
  rule: string,
  limit: Cents,
  { nameLimit, above }: { readonly nameLimit: (amount: string) => string; readonly above: RuleOutcome },
): RuleEvaluator {
  const limitInWords = nameLimit(formatMoney(limit))
  return ({ request: { amountCents, paymentCents }, amountInWords }) => {
    const used = paymentCents ?? amountCents
    const words = paymentCents === undefined ? amountInWords : formatMoney(paymentCents)
    const isWithin = used <= limit
    return {
      rule,
      outcome: isWithin ? 'pass' : above,
      limit: centsToEuroNumber(limit),
      used: centsToEuroNumber(used),
      remaining: centsToEuroNumber(remainingLimit({ limit, used })),
      message: `${words} ${isWithin ? 'is within' : 'is above'} ${limitInWords}`,
    }
  }
}

export const maxTransactionRule: PolicyRule = {
  name: MAX_TRANSACTION,
  compile: terms => {
    const limit = terms?.maxTransactionCents ?? null
    if (limit === null) return undefined
    const nameLimit = (amount: string) => `the limit of ${amount} for one payment.`
    return checkPayment(MAX_TRANSACTION, limit, { nameLimit, above: 'fail' })
  },
  skipMessage: 'No limit is set for a single payment.',
  remedy: 'Choose a smaller amount, or raise the limit for one payment.',
}

const periodLimit = (
  name: 'dailyLimitCents' | 'monthlyLimitCents',
  title: string,
  usedOf: (input: RuleEvaluationInput) => Cents,
  texts: Pick<PolicyRule, 'skipMessage' | 'remedy'>,
): PolicyRule => {
  const rule = jsonName(name)
  return {
    name: rule,
    compile: terms => {
      const limit = terms?.[name] ?? null
      if (limit === null) return undefined
      const titleWithLimit = `${title} of ${formatMoney(limit)}`
      return input => {
        const requested = { amount: input.request.amountCents, inWords: input.amountInWords }
        return checkLimit(rule, titleWithLimit, requested, { limit, used: usedOf(input) })
      }
    },
    ...texts,
  }
}

export const dailyLimitRule = periodLimit(
  'dailyLimitCents',
  'The daily limit',
  ({ counters }) => counters.dayCents,
  {
    skipMessage: 'No daily limit is set.',
    remedy:
      'Stay within today’s remaining limit, wait until midnight UTC, cancel open intents, or raise the daily limit.',
  },
)

export const monthlyLimitRule = periodLimit(
  'monthlyLimitCents',
  'The monthly limit',
  ({ counters }) => counters.monthCents,
  {
    skipMessage: 'No monthly limit is set.',
    remedy:
      'Stay within this month’s remaining limit, wait until next month, cancel open intents, or raise the monthly limit.',
  },
)

const remainingIn = ({ limitCents, usedCents }: Pick<BudgetUsage, 'limitCents' | 'usedCents'>): Cents =>
  remainingLimit({ limit: limitCents, used: usedCents })

/**
 * Every level applies, so the budget with the smallest rest decides. Of equal ones it is the lower level,
 * which comes later.
 */
const narrowestOf = (budgets: readonly BudgetUsage[]): BudgetUsage | undefined =>
  budgets.reduce<BudgetUsage | undefined>(
    (narrowest, budget) => (narrowest && remainingIn(narrowest) < remainingIn(budget) ? narrowest : budget),
    undefined,
  )

/** The owner is known, so only other levels are named. */
const titleOf = ({ level, name, period, limitCents }: BudgetUsage): string =>
  `The ${period ? `${level}’s budget for the ${period}` : `budget of the ${level} ${name}`} of ${formatMoney(limitCents)}`

export const budgetRule: PolicyRule = {
  name: 'budget',
  compile: () => input => {
    const { budgets, amountCents } = input.request
    const narrowest = narrowestOf(budgets)
    if (!narrowest) return undefined
    const requested = { amount: amountCents, inWords: input.amountInWords }
    const usage = { limit: narrowest.limitCents, used: narrowest.usedCents }
    return checkLimit('budget', titleOf(narrowest), requested, usage)
  },
  skipMessage: 'No budget of the owner, a run, a delegation, a token or a card applies.',
  remedy:
    'Stay within what is left of that budget, raise it, or, for a daily or monthly budget, wait for the next period.',
}

export const toleranceRule: PolicyRule = {
  name: 'amountTolerancePercent',
  compile: terms => {
    const percent = terms?.amountTolerancePercent
    if (!percent) return undefined
    return ({ request: { amountCents }, holdCents }) => ({
      rule: 'amountTolerancePercent',
      outcome: 'pass',
      limit: centsToEuroNumber(holdCents),
      used: centsToEuroNumber(amountCents),
      remaining: centsToEuroNumber(subtractCents(holdCents, amountCents)),
      message: `The charged amount may be up to ${formatMoney(holdCents)}.`,
    })
  },
  skipMessage: 'The charged amount must not exceed the requested amount.',
  remedy: 'Raise the tolerance.',
}

/** Stops nothing: it shows how the amount, which the other rules check, follows from the price. */
export const conversionRule: PolicyRule = {
  name: 'conversionMarginPercent',
  compile: () => input => {
    const { conversion } = input.request
    if (!conversion) return undefined
    const { rate, rateDate, marginPercent } = conversion
    const price = formatOriginal(originalOfConversion(conversion))
    const message = `${price} counts as ${input.amountInWords}: at ${rate} for one euro, the rate of ${rateDate}, plus ${marginPercent} %.`
    return checkWithoutLimit('conversionMarginPercent', 'pass', message)
  },
  skipMessage: 'The price is in euros.',
  remedy: 'Lower the margin for other currencies.',
}

/** Ignores limits. Fractions of a cent are rounded up. */
export function addTolerance(amount: Cents, percent: number | null): Cents {
  if (!percent) return amount
  const hundredths = BigInt(Math.round(percent * 100))
  return addCents(amount, fractionOf(amount, [hundredths, 10_000n], 'up'))
}

/**
 * The amount to hold. Limits cut the tolerance short, so that no capture exceeds a limit, and a spend that
 * just fits is not refused because it might cost more.
 */
export function amountToHold(
  terms: PolicyTerms | null,
  { request, counters }: Pick<RuleEvaluationInput, 'request' | 'counters'>,
): Cents {
  const { kind, amountCents, budgets, card, mandate } = request
  // A card network requests the amount that it needs, and increments it later.
  if (kind === 'card') return amountCents
  let hold = addTolerance(amountCents, terms?.amountTolerancePercent ?? null)
  if (!terms || hold === amountCents) return hold
  const capAt = (remaining: Cents): void => {
    if (remaining < hold) hold = remaining
  }
  if (terms.maxTransactionCents !== null) capAt(terms.maxTransactionCents)
  if (card && card.maxTransactionCents !== null) capAt(card.maxTransactionCents)
  if (terms.dailyLimitCents !== null) capAt(subtractCents(terms.dailyLimitCents, counters.dayCents))
  if (terms.monthlyLimitCents !== null) capAt(subtractCents(terms.monthlyLimitCents, counters.monthCents))
  for (const budget of budgets) capAt(remainingIn(budget))
  if (mandate && exceedsAutoApproveLimit(terms, request)) {
    if (mandate.perTransactionCents !== null) capAt(mandate.perTransactionCents)
    for (const limit of mandate.limits) capAt(remainingIn(limit))
  }
  return hold < amountCents ? amountCents : hold
}

export const exceedsAutoApproveLimit = (
  terms: PolicyTerms | null,
  { amountCents, approvedOnlyBy }: Pick<SpendRequest, 'amountCents' | 'approvedOnlyBy'>,
): boolean => {
  const limit = terms?.autoApproveLimitCents ?? null
  return approvedOnlyBy !== undefined || limit === null || amountCents > limit
}

const unlessMandate =
  (evaluate: RuleEvaluator): RuleEvaluator =>
  input => {
    const check = evaluate(input)
    if (check?.outcome !== 'review' || !input.mandate) return check
    return {
      ...check,
      outcome: 'pass',
      message: `${check.message} A mandate replaces the person’s approval.`,
    }
  }

const approvedOnlyByReasons = {
  mandate:
    'An assistant pays by itself only within the mandate of its connection: a person approves everything else.',
  person: 'A person approves with a passkey what is declared in the console.',
}

export const autoApproveRule: PolicyRule = {
  name: AUTO_APPROVE_LIMIT,
  compile: terms => {
    if (terms?.requireAttestation) return undefined
    const limit = terms?.autoApproveLimitCents ?? null
    const nameLimit = (amount: string) => `the auto-approve limit of ${amount}.`
    const ofLimit =
      limit === null ? undefined : checkPayment(AUTO_APPROVE_LIMIT, limit, { nameLimit, above: 'review' })
    const message = terms
      ? 'The policy approves nothing by itself: a person approves every intent.'
      : 'The agent has no policy: a person approves every intent.'
    return unlessMandate(input => {
      const { amountCents, approvedOnlyBy } = input.request
      if (ofLimit && !approvedOnlyBy) return ofLimit(input)
      const reason = approvedOnlyBy ? approvedOnlyByReasons[approvedOnlyBy] : message
      return {
        ...checkWithoutLimit(AUTO_APPROVE_LIMIT, 'review', reason),
        used: centsToEuroNumber(amountCents),
      }
    })
  },
  skipMessage: 'Another rule decides whether a person must approve.',
  remedy:
    'Have a person approve it. For what the agent declares itself, sign a mandate or raise the auto-approve limit.',
}

/** A spend that will wait for a person needs no money yet. */
const needsMoney = ({ request, outcomeSoFar }: RuleEvaluationInput): boolean =>
  outcomeSoFar !== 'review' || request.approval !== null

export const walletStatusRule: PolicyRule = {
  name: 'walletStatus',
  compile: () => input =>
    input.request.walletFrozen && needsMoney(input)
      ? checkWithoutLimit(
          'walletStatus',
          'fail',
          'The agent’s wallet is frozen: its money cannot be spent or held.',
        )
      : undefined,
  skipMessage: 'The wallet is not frozen, or no money is needed yet.',
  remedy: 'Unfreeze the agent’s wallet.',
}

export const sufficientFundsRule: PolicyRule = {
  name: 'insufficient_funds',
  compile: () => input => {
    const { request, holdCents } = input
    const { availableCents: available } = request
    if (available === null || holdCents <= available) return undefined
    const [needed, there] = [formatMoney(holdCents), formatMoney(available)]
    if (!needsMoney(input)) {
      // The message states now what would refuse a person's later approval. A card cannot wait.
      const message = `${needed} is needed once the intent is approved, but only ${there} was available.`
      return request.kind === 'intent' ? checkWithoutLimit('insufficient_funds', 'skip', message) : undefined
    }
    return {
      rule: 'insufficient_funds',
      outcome: 'fail',
      limit: centsToEuroNumber(available),
      used: centsToEuroNumber(holdCents),
      remaining: 0,
      message: `${needed} is needed, but only ${there} is available.`,
    }
  },
  skipMessage: 'The wallet has enough money, or none is needed yet.',
  remedy: 'Fund the agent’s wallet, or choose a smaller amount.',
}
