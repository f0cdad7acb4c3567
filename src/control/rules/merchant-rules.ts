import { plainIban } from '../../values/iban.ts'
import { looksLikeIban, sameMerchant, samePayee } from '../merchants/index.ts'
import type { Rule } from './evaluation.ts'
import { says } from './decision.ts'

/** What a list says of a payee. The number of an account goes no further than its owner: its end is enough. */
const inList = (pattern: string): string =>
  looksLikeIban(pattern) ? `the IBAN that ends in ${plainIban(pattern).slice(-4)}` : pattern

export const blocklist: Rule = {
  name: 'merchantBlocklist',
  judge: terms => {
    if (!terms || terms.merchantBlocklist.length === 0) return undefined
    return ({ request: { merchant, payeeIban } }) => {
      const pattern = terms.blocks(merchant, payeeIban)
      return pattern === undefined
        ? says('merchantBlocklist', 'pass', `${merchant} is not on the blocklist.`)
        : says('merchantBlocklist', 'fail', `${merchant} is on the blocklist, as ${inList(pattern)}.`)
    }
  },
  silent: 'No merchant is blocked.',
  remedy: 'Buy from another merchant, or take this one off the blocklist.',
}

/** An empty list is no rule: who wants nobody paid freezes the agent. */
export const allowlist: Rule = {
  name: 'merchantAllowlist',
  judge: terms => {
    if (!terms || terms.merchantAllowlist.length === 0) return undefined
    return ({ request: { merchant, payeeIban } }) => {
      const pattern = terms.admits(merchant, payeeIban)
      return pattern === undefined
        ? says('merchantAllowlist', 'fail', `${merchant} is not on the allowlist.`)
        : says('merchantAllowlist', 'pass', `${merchant} is on the allowlist, as ${inList(pattern)}.`)
    }
  },
  silent: 'No allowlist is set: every merchant that is not blocked is admitted.',
  remedy: 'Buy from a merchant on the allowlist, or put this one on it.',
}

/** What has no code may be anything, so it is a person who looks: nobody gets around a block by leaving it out. */
export const blockedMccs: Rule = {
  name: 'blockedMccs',
  judge: terms => {
    if (!terms || terms.blockedCodes.size === 0) return undefined
    return ({ request: { mcc } }) => {
      if (mcc === null)
        return says('blockedMccs', 'review', 'mcc is not given, and some merchant categories are blocked.')
      return terms.blockedCodes.has(mcc)
        ? says('blockedMccs', 'fail', `The merchant category ${mcc} is blocked.`)
        : says('blockedMccs', 'pass', `The merchant category ${mcc} is not blocked.`)
    }
  },
  silent: 'No merchant category is blocked.',
  remedy: 'Give mcc, the merchant category; buy elsewhere, or take the category off the blocked ones.',
}

/** Groups and single codes admit together. A group that nobody knows admits nothing. */
export const admittedMccs: Rule = {
  name: 'mccCategories',
  also: 'allowedMccs',
  judge: terms => {
    if (!terms || terms.mccCategories.length + terms.allowedMccs.length === 0) return undefined
    const rule = terms.mccCategories.length > 0 ? 'mccCategories' : 'allowedMccs'
    return ({ request: { mcc } }) => {
      if (mcc === null)
        return says(rule, 'review', 'mcc is not given, and only some merchant categories are admitted.')
      return terms.admittedCodes.has(mcc)
        ? says(rule, 'pass', `The merchant category ${mcc} is admitted.`)
        : says(rule, 'fail', `The merchant category ${mcc} is not among those that are admitted.`)
    }
  },
  silent: 'Merchants of every category that is not blocked are admitted.',
  remedy: 'Give mcc, the merchant category; buy from an admitted one, or admit this one.',
}

export const countries: Rule = {
  name: 'allowedCountries',
  judge: terms => {
    if (!terms || terms.countries.size === 0) return undefined
    return ({ request: { country } }) => {
      if (country === null)
        return says(
          'allowedCountries',
          'review',
          'country is not given, and merchants of some countries only are allowed.',
        )
      return terms.countries.has(country)
        ? says('allowedCountries', 'pass', `Merchants in ${country} are allowed.`)
        : says('allowedCountries', 'fail', `Merchants in ${country} are not among those that are allowed.`)
    }
  },
  silent: 'Merchants of every country are allowed.',
  remedy: 'Give country, where the merchant is; buy in an allowed one, or allow this one.',
}

/** A level may be good for one merchant only, and names itself. */
export const boundMerchant: Rule = {
  name: 'boundMerchant',
  judge: () => question => {
    const { merchant, payeeIban, budgets } = question.request
    const bound = budgets.filter(budget => budget.merchant)
    if (bound.length === 0) return undefined
    const against = bound.find(budget => !samePayee(String(budget.merchant), merchant, payeeIban))
    return against
      ? says(
          'boundMerchant',
          'fail',
          `The ${against.level} ${against.name} is good for ${inList(String(against.merchant))} only, not for ${merchant}.`,
        )
      : says('boundMerchant', 'pass', `${merchant} is the one merchant of the ${bound[0]?.level}.`)
  },
  silent: 'No delegation binds the agent to one merchant.',
  remedy: 'Buy from the merchant of the delegation, or ask for a delegation without one.',
}

export const firstMerchantOnly: Rule = {
  name: 'lockToFirstMerchant',
  judge: terms => {
    if (!terms?.lockToFirstMerchant) return undefined
    return ({ request: { merchant }, counters: { firstMerchant } }) => {
      if (firstMerchant === null)
        return says('lockToFirstMerchant', 'skip', 'The first merchant that is paid will be the only one.')
      return sameMerchant(firstMerchant, merchant)
        ? says('lockToFirstMerchant', 'pass', `${merchant} is the one merchant of this agent.`)
        : says('lockToFirstMerchant', 'fail', `This agent pays ${firstMerchant} only, not ${merchant}.`)
    }
  },
  silent: 'The agent is not bound to one merchant.',
  remedy: 'Buy from the agent’s one merchant, or switch lockToFirstMerchant off.',
}
