import { plainIban } from '../../values/iban.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { looksLikeIban, mccGroup } from '../merchants/index.ts'
import type { PolicyTerms } from './evaluation.ts'
import type { Rules } from './rules.ts'

/** At most ten names: a list may have thousands. */
export const shortList = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')

export interface Warning {
  readonly fields: (keyof Rules)[]
  readonly message: string
}

type WarningFinder = (terms: PolicyTerms) => Warning | undefined | false

const limits = [
  ['maxTransactionEuros', 'The limit for one payment', 'every payment is denied'],
  ['dailyLimitEuros', 'The daily limit', 'every payment is denied'],
  ['monthlyLimitEuros', 'The monthly limit', 'every payment is denied'],
  ['autoApproveLimitEuros', 'The limit up to which no person is asked', 'a person is asked about everything'],
] as const

type Limit = (typeof limits)[number][0]

const zeroLimits = limits.map(
  ([field, title, effect]): WarningFinder =>
    terms =>
      terms[field] === 0n && { fields: [field], message: `${title} is € 0.00: ${effect}.` },
)

const unreachable =
  (limit: Limit, lowerLimit: Limit, describe: (limit: Euros, lower: Euros) => string): WarningFinder =>
  terms => {
    const amount = terms[limit]
    const lower = terms[lowerLimit]
    if (amount === null || lower === null || amount <= lower) return undefined
    return { fields: [limit, lowerLimit], message: describe(amount, lower) }
  }

const merchantsOnBothLists: WarningFinder = terms => {
  const both = terms.merchantAllowlist.filter(
    name => terms.findBlocked(name, looksLikeIban(name) ? plainIban(name) : null) !== undefined,
  )
  if (both.length === 0) return undefined
  const remark = both.length === terms.merchantAllowlist.length ? ' No merchant is left to be paid.' : ''
  return {
    fields: ['merchantAllowlist', 'merchantBlocklist'],
    message: `Allowed and blocked at once, so blocked: ${shortList(both)}.${remark}`,
  }
}

const codesOnBothLists: WarningFinder = terms => {
  const both = [...terms.allowedCodes].filter(code => terms.blockedCodes.has(code))
  if (both.length === 0) return undefined
  const remark = both.length === terms.allowedCodes.size ? ' No category is left to be paid.' : ''
  const fields: Warning['fields'] = [
    terms.allowedMccs.some(code => terms.blockedCodes.has(code)) ? 'allowedMccs' : 'mccCategories',
    'blockedMccs',
  ]
  return { fields, message: `Admitted and blocked at once, so blocked: ${shortList(both)}.${remark}` }
}

const unknownGroups: WarningFinder = terms => {
  const unknown = terms.mccCategories.filter(name => !mccGroup(name))
  return (
    unknown.length > 0 && {
      fields: ['mccCategories'],
      message: `These groups do not exist, so they admit nothing: ${shortList(unknown)}.`,
    }
  )
}

const equalHours: WarningFinder = ({ activeHoursStart, activeHoursEnd }) =>
  (activeHoursStart !== null || activeHoursEnd !== null) &&
  (activeHoursStart ?? 0) === (activeHoursEnd ?? 0) && {
    fields: ['activeHoursStart', 'activeHoursEnd'],
    message: 'Start and end are the same hour: the agent may spend all day.',
  }

const autoApprovalWithPasskey: WarningFinder = ({ requireAttestation, autoApproveLimitEuros }) =>
  requireAttestation &&
  autoApproveLimitEuros !== null && {
    fields: ['autoApproveLimitEuros', 'requireAttestation'],
    message: `Up to ${formatEuros(autoApproveLimitEuros)} no person would be asked, but requireAttestation asks one about everything.`,
  }

const finders: readonly WarningFinder[] = [
  ...zeroLimits,
  unreachable(
    'dailyLimitEuros',
    'monthlyLimitEuros',
    (day, month) =>
      `The daily limit of ${formatEuros(day)} has no effect: the monthly limit of ${formatEuros(month)} is reached before.`,
  ),
  unreachable(
    'maxTransactionEuros',
    'dailyLimitEuros',
    (payment, day) =>
      `The limit of ${formatEuros(payment)} for one payment has no effect: the daily limit is ${formatEuros(day)}.`,
  ),
  unreachable(
    'maxTransactionEuros',
    'monthlyLimitEuros',
    (payment, month) =>
      `The limit of ${formatEuros(payment)} for one payment has no effect: the monthly limit is ${formatEuros(month)}.`,
  ),
  unreachable(
    'autoApproveLimitEuros',
    'maxTransactionEuros',
    (autoApprove, payment) =>
      `Up to ${formatEuros(autoApprove)} no person would be asked, but above ${formatEuros(payment)} everything is denied.`,
  ),
  autoApprovalWithPasskey,
  merchantsOnBothLists,
  codesOnBothLists,
  unknownGroups,
  equalHours,
  ({ attestationWindowMinutes, requireAttestation }) =>
    attestationWindowMinutes !== null &&
    !requireAttestation && {
      fields: ['attestationWindowMinutes', 'requireAttestation'],
      message: 'attestationWindowMinutes has no effect without requireAttestation.',
    },
  ({ expirationAction, expiresAfterMinutes }) =>
    expirationAction !== 'notify' &&
    expiresAfterMinutes === null && {
      fields: ['expirationAction', 'expiresAfterMinutes'],
      message: 'expirationAction has no effect without expiresAfterMinutes.',
    },
]

/** Warns of rules that an owner can hardly have intended. Decisions follow them anyway. */
export const contradictionsIn = (terms: PolicyTerms): Warning[] => finders.flatMap(find => find(terms) || [])
