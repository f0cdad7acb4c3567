import { type Euros, formatEuros } from '../../values/money.ts'
import type { Judge, Question, Rule, Terms } from './evaluation.ts'
import { type Budget, figure, fits, leftOf, type Outcome, says } from './decision.ts'

/** Against a limit of one payment by itself; what can be said beforehand is said once. */
function against(rule: string, limit: Euros, { means, beyond }: { means: string; beyond: Outcome }): Judge {
  const limitInWords = `the limit of ${formatEuros(limit)} ${means}.`
  return ({ request: { amountEuros: used }, said }) => {
    const within = used <= limit
    return {
      rule,
      outcome: within ? 'pass' : beyond,
      limit: figure(limit),
      used: figure(used),
      remaining: figure(leftOf({ limit, used })),
      message: `${said} ${within ? 'is within' : 'is above'} ${limitInWords}`,
    }
  }
}

export const maxTransaction: Rule = {
  name: 'maxTransactionEuros',
  judge: terms => {
    const limit = terms?.maxTransactionEuros ?? null
    if (limit === null) return undefined
    return against('maxTransactionEuros', limit, { means: 'for one payment', beyond: 'fail' })
  },
  silent: 'No limit is set for a single payment.',
  remedy: 'Ask for a smaller amount, or raise the limit for one payment.',
}

const periodic = (
  name: 'dailyLimitEuros' | 'monthlyLimitEuros',
  title: string,
  used: (question: Question) => Euros,
  words: Pick<Rule, 'silent' | 'remedy'>,
): Rule => ({
  name,
  judge: terms => {
    const limit = terms?.[name] ?? null
    if (limit === null) return undefined
    const whole = `${title} of ${formatEuros(limit)}`
    return question => {
      const { request, said } = question
      return fits(name, whole, { amount: request.amountEuros, said }, { limit, used: used(question) })
    }
  },
  ...words,
})

export const daily = periodic('dailyLimitEuros', 'The daily limit', ({ counters }) => counters.dayEuros, {
  silent: 'No daily limit is set.',
  remedy:
    'Ask for no more than is left today, wait until midnight UTC, free what open intents reserve, or raise the daily limit.',
})

export const monthly = periodic(
  'monthlyLimitEuros',
  'The monthly limit',
  ({ counters }) => counters.monthEuros,
  {
    silent: 'No monthly limit is set.',
    remedy:
      'Ask for no more than is left this month, wait until the next one, free what open intents reserve, or raise the monthly limit.',
  },
)

const leftIn = ({ limitEuros, usedEuros }: Budget): Euros => leftOf({ limit: limitEuros, used: usedEuros })

/** Every level holds, so the one with the least left decides; of equals the lower level, which comes later. */
const narrowest = (budgets: readonly Budget[]): Budget | undefined =>
  budgets.reduce<Budget | undefined>(
    (least, budget) => (least && leftIn(least) < leftIn(budget) ? least : budget),
    undefined,
  )

/** There is one owner, who is known; of the others each has a name. */
const titleOf = ({ level, name, period, limitEuros }: Budget): string =>
  `The ${period ? `${level}’s budget for the ${period}` : `budget of the ${level} ${name}`} of ${formatEuros(limitEuros)}`

export const budget: Rule = {
  name: 'budget',
  judge: () => question => {
    const { budgets, amountEuros } = question.request
    const one = narrowest(budgets)
    if (!one) return undefined
    const { limitEuros: limit, usedEuros: used } = one
    return fits('budget', titleOf(one), { amount: amountEuros, said: question.said }, { limit, used })
  },
  silent: 'No budget of the owner, a run, a delegation, a token or a card applies.',
  remedy:
    'Ask for no more than is left of that budget, raise it, or wait where it is one for the day or the month.',
}

export const tolerance: Rule = {
  name: 'amountTolerancePercent',
  judge: terms => {
    const percent = terms?.amountTolerancePercent
    if (!percent) return undefined
    return ({ request: { amountEuros }, holdEuros }) => ({
      rule: 'amountTolerancePercent',
      outcome: 'pass',
      limit: figure(holdEuros),
      used: figure(amountEuros),
      remaining: figure(holdEuros - amountEuros),
      message: `The amount charged may be up to ${formatEuros(holdEuros)}.`,
    })
  },
  silent: 'The amount charged must not be above the amount asked for.',
  remedy: 'Raise the tolerance.',
}

/** So much is kept for an amount, before any limit is looked at; fractions of a cent are rounded up. */
export function withTolerance(amount: Euros, percent: number | null): Euros {
  if (!percent) return amount
  const hundredths = BigInt(Math.round(percent * 100))
  return amount + (amount * hundredths + 9_999n) / 10_000n
}

/**
 * What is kept: the tolerance ends where a limit does, so that no capture exceeds one, and what fits to the cent is
 * not refused for what it might cost more.
 */
export function holdFor(
  terms: Terms | null,
  { request, counters }: Pick<Question, 'request' | 'counters'>,
): Euros {
  const { amountEuros, budgets } = request
  let hold = withTolerance(amountEuros, terms?.amountTolerancePercent ?? null)
  if (!terms || hold === amountEuros) return hold
  const lower = (left: Euros): void => {
    if (left < hold) hold = left
  }
  if (terms.maxTransactionEuros !== null) lower(terms.maxTransactionEuros)
  if (terms.dailyLimitEuros !== null) lower(terms.dailyLimitEuros - counters.dayEuros)
  if (terms.monthlyLimitEuros !== null) lower(terms.monthlyLimitEuros - counters.monthEuros)
  for (const one of budgets) lower(leftIn(one))
  return hold < amountEuros ? amountEuros : hold
}

const about = (message: string, outcome: 'pass' | 'review') => says('autoApproveLimitEuros', outcome, message)

export const autoApprove: Rule = {
  name: 'autoApproveLimitEuros',
  judge: terms => {
    if (terms?.requireAttestation) return undefined
    const limit = terms?.autoApproveLimitEuros ?? null
    const nothing = terms
      ? 'The policy approves nothing by itself: a person approves every intent.'
      : 'The agent has no policy: a person approves every intent.'
    if (limit === null)
      return ({ request }) => ({ ...about(nothing, 'review'), used: figure(request.amountEuros) })
    const means = 'up to which no person is asked'
    return against('autoApproveLimitEuros', limit, { means, beyond: 'review' })
  },
  silent: 'Whether a person is asked is decided by another rule.',
  remedy: 'A person approves it, or the limit up to which nobody is asked is raised.',
}

/** What waits for a person needs no money yet. */
const needsMoney = ({ request, soFar }: Question): boolean => soFar !== 'review' || request.approval !== null

export const walletState: Rule = {
  name: 'walletStatus',
  judge: () => question =>
    question.request.walletFrozen && needsMoney(question)
      ? says('walletStatus', 'fail', 'The agent’s wallet is frozen: nothing in it is spent or kept.')
      : undefined,
  silent: 'The wallet is not frozen, or no money is needed yet.',
  remedy: 'Unfreeze the agent’s wallet.',
}

export const funds: Rule = {
  name: 'insufficient_funds',
  judge: () => question => {
    const { request, holdEuros } = question
    const { availableEuros: available } = request
    if (available === null || holdEuros <= available || !needsMoney(question)) return undefined
    return {
      rule: 'insufficient_funds',
      outcome: 'fail',
      limit: figure(available),
      used: figure(holdEuros),
      remaining: 0,
      message: `${formatEuros(holdEuros)} are needed, ${formatEuros(available)} are available.`,
    }
  },
  silent: 'There is enough in the wallet, or none is needed yet.',
  remedy: 'Put money into the agent’s wallet, or ask for a smaller amount.',
}
