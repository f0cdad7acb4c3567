import { normalizeIban } from '../../values/iban.ts'
import { isSameMerchant, isSamePayee, looksLikeIban, type payeeMatcher } from '../merchants/index.ts'
import { checkWithoutLimit, type SpendRequest } from './decision.ts'
import type { PolicyRule } from './evaluation.ts'

/** Messages show only the end of an IBAN, since more people see them than the list. */
const patternInWords = (pattern: string): string =>
  looksLikeIban(pattern) ? `the IBAN that ends in ${normalizeIban(pattern).slice(-4)}` : pattern

function firstMatch(
  find: ReturnType<typeof payeeMatcher>,
  names: readonly string[],
  iban: string | null | undefined,
): string | undefined {
  for (const name of names) {
    const pattern = find(name, iban)
    if (pattern !== undefined) return pattern
  }
  return undefined
}

const admittedNames = ({ merchant, alsoNamed = [], provenNames }: SpendRequest): readonly string[] =>
  provenNames ?? [merchant, ...alsoNamed]

export const blocklistRule: PolicyRule = {
  name: 'merchantBlocklist',
  compile: terms => {
    if (!terms || terms.merchantBlocklist.length === 0) return undefined
    return ({ request: { merchant, payeeIban, alsoNamed = [], provenNames = [] } }) => {
      const pattern = firstMatch(terms.findBlocked, [merchant, ...alsoNamed, ...provenNames], payeeIban)
      return pattern === undefined
        ? checkWithoutLimit('merchantBlocklist', 'pass', `${merchant} is not on the blocklist.`)
        : checkWithoutLimit(
            'merchantBlocklist',
            'fail',
            `${merchant} is on the blocklist, as ${patternInWords(pattern)}.`,
          )
    }
  },
  skipMessage: 'No merchant is blocked.',
  remedy: 'Buy from another merchant, or remove this one from the blocklist.',
}

/** An empty list is not a rule: an owner who wants no payments freezes the agent. */
export const allowlistRule: PolicyRule = {
  name: 'merchantAllowlist',
  compile: terms => {
    if (!terms || terms.merchantAllowlist.length === 0) return undefined
    return ({ request }) => {
      const { merchant, payeeIban } = request
      const pattern = firstMatch(terms.findAllowed, admittedNames(request), payeeIban)
      return pattern === undefined
        ? checkWithoutLimit('merchantAllowlist', 'fail', `${merchant} is not on the allowlist.`)
        : checkWithoutLimit(
            'merchantAllowlist',
            'pass',
            `${merchant} is on the allowlist, as ${patternInWords(pattern)}.`,
          )
    }
  },
  skipMessage: 'No allowlist is set: every merchant that is not blocked is allowed.',
  remedy: 'Buy from a merchant on the allowlist, or add this one.',
}

/**
 * A merchant without a code may be anything, so a person decides, and leaving the code out does not get
 * around a block.
 */
export const blockedMccsRule: PolicyRule = {
  name: 'blockedMccs',
  compile: terms => {
    if (!terms || terms.blockedCodes.size === 0) return undefined
    return ({ request: { mcc } }) => {
      if (mcc === null)
        return checkWithoutLimit(
          'blockedMccs',
          'review',
          'mcc is not set, and some merchant categories are blocked.',
        )
      return terms.blockedCodes.has(mcc)
        ? checkWithoutLimit('blockedMccs', 'fail', `The merchant category ${mcc} is blocked.`)
        : checkWithoutLimit('blockedMccs', 'pass', `The merchant category ${mcc} is not blocked.`)
    }
  },
  skipMessage: 'No merchant category is blocked.',
  remedy: 'Set mcc, the merchant category; buy elsewhere, or unblock the category.',
}

/** A code is allowed by its group or by itself. A group that does not exist allows nothing. */
export const allowedMccsRule: PolicyRule = {
  name: 'mccCategories',
  alias: 'allowedMccs',
  compile: terms => {
    if (!terms || terms.mccCategories.length + terms.allowedMccs.length === 0) return undefined
    const rule = terms.mccCategories.length > 0 ? 'mccCategories' : 'allowedMccs'
    return ({ request: { mcc } }) => {
      if (mcc === null)
        return checkWithoutLimit(
          rule,
          'review',
          'mcc is not set, and only some merchant categories are allowed.',
        )
      return terms.allowedCodes.has(mcc)
        ? checkWithoutLimit(rule, 'pass', `The merchant category ${mcc} is allowed.`)
        : checkWithoutLimit(rule, 'fail', `The merchant category ${mcc} is not allowed.`)
    }
  },
  skipMessage: 'Every merchant category that is not blocked is allowed.',
  remedy: 'Set mcc, the merchant category; buy in an allowed one, or allow this one.',
}

export const countriesRule: PolicyRule = {
  name: 'allowedCountries',
  compile: terms => {
    if (!terms || terms.countries.size === 0) return undefined
    return ({ request: { country } }) => {
      if (country === null)
        return checkWithoutLimit(
          'allowedCountries',
          'review',
          'country is not set, and only merchants in some countries are allowed.',
        )
      return terms.countries.has(country)
        ? checkWithoutLimit('allowedCountries', 'pass', `Merchants in ${country} are allowed.`)
        : checkWithoutLimit('allowedCountries', 'fail', `Merchants in ${country} are not allowed.`)
    }
  },
  skipMessage: 'Merchants of every country are allowed.',
  remedy: 'Set country, where the merchant is; buy in an allowed one, or allow this one.',
}

export const boundMerchantRule: PolicyRule = {
  name: 'boundMerchant',
  compile: () => input => {
    const { merchant, payeeIban, budgets, provenNames = [merchant] } = input.request
    const boundBudgets = budgets.filter(budget => budget.merchant)
    if (boundBudgets.length === 0) return undefined
    const otherwiseBound = boundBudgets.find(
      budget => !provenNames.some(name => isSamePayee(String(budget.merchant), name, payeeIban)),
    )
    return otherwiseBound
      ? checkWithoutLimit(
          'boundMerchant',
          'fail',
          `The ${otherwiseBound.level} ${otherwiseBound.name} is only for ${patternInWords(String(otherwiseBound.merchant))}, not for ${merchant}.`,
        )
      : checkWithoutLimit(
          'boundMerchant',
          'pass',
          `${merchant} is the only merchant of the ${boundBudgets[0]?.level}.`,
        )
  },
  skipMessage: 'No delegation binds the agent to one merchant.',
  remedy: 'Buy from the delegation’s merchant, or ask for a delegation without one.',
}

export const firstMerchantOnlyRule: PolicyRule = {
  name: 'lockToFirstMerchant',
  compile: terms => {
    if (!terms?.lockToFirstMerchant) return undefined
    return ({ request, counters: { firstMerchant } }) => {
      const { merchant } = request
      if (firstMerchant === null)
        return checkWithoutLimit(
          'lockToFirstMerchant',
          'skip',
          'The first merchant that is paid becomes the only one.',
        )
      return admittedNames(request).some(name => isSameMerchant(firstMerchant, name))
        ? checkWithoutLimit('lockToFirstMerchant', 'pass', `${merchant} is the only merchant of this agent.`)
        : checkWithoutLimit(
            'lockToFirstMerchant',
            'fail',
            `This agent pays only ${firstMerchant}, not ${merchant}.`,
          )
    }
  },
  skipMessage: 'The agent is not limited to one merchant.',
  remedy: 'Buy from the agent’s only merchant, or switch lockToFirstMerchant off.',
}
