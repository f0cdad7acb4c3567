import { normalizeIban } from '../../values/iban.ts'
import { jsonName } from '../../values/json-names.ts'
import { type Cents, formatMoney } from '../../values/money.ts'
import { looksLikeIban, mccsOfGroup } from '../merchants/index.ts'
import type { PolicyTerms } from './evaluation.ts'
import type { PolicyRules } from './rules.ts'

/** Names ten at most, since a list may have thousands. */
export const joinFirstTen = (names: readonly string[]): string =>
  names.length > 10 ? `${names.slice(0, 10).join(', ')} and ${names.length - 10} more` : names.join(', ')

export interface PolicyWarning {
  readonly fields: string[]
  readonly message: string
}

interface Found {
  readonly fields: (keyof PolicyRules)[]
  readonly message: string
}

type WarningFinder = (terms: PolicyTerms) => Found | undefined | false

const limits = [
  ['maxTransactionCents', 'The limit for one payment', 'every payment is denied'],
  ['dailyLimitCents', 'The daily limit', 'every payment is denied'],
  ['monthlyLimitCents', 'The monthly limit', 'every payment is denied'],
  ['autoApproveLimitCents', 'The auto-approve limit', 'a person must approve every intent'],
] as const

type Limit = (typeof limits)[number][0]

const zeroLimits = limits.map(
  ([field, title, effect]): WarningFinder =>
    terms =>
      terms[field] === 0n && { fields: [field], message: `${title} is € 0.00: ${effect}.` },
)

const unreachable =
  (limit: Limit, lowerLimit: Limit, describe: (limit: Cents, lower: Cents) => string): WarningFinder =>
  terms => {
    const amount = terms[limit]
    const lower = terms[lowerLimit]
    if (amount === null || lower === null || amount <= lower) return undefined
    return { fields: [limit, lowerLimit], message: describe(amount, lower) }
  }

const merchantsOnBothLists: WarningFinder = terms => {
  const both = terms.merchantAllowlist.filter(
    name => terms.findBlocked(name, looksLikeIban(name) ? normalizeIban(name) : null) !== undefined,
  )
  if (both.length === 0) return undefined
  const remark = both.length === terms.merchantAllowlist.length ? ' No merchant is left to be paid.' : ''
  return {
    fields: ['merchantAllowlist', 'merchantBlocklist'],
    message: `Both allowed and blocked, so blocked: ${joinFirstTen(both)}.${remark}`,
  }
}

const codesOnBothLists: WarningFinder = terms => {
  const both = [...terms.allowedCodes].filter(code => terms.blockedCodes.has(code))
  if (both.length === 0) return undefined
  const remark = both.length === terms.allowedCodes.size ? ' No category is left to be paid.' : ''
  const fields: Found['fields'] = [
    terms.allowedMccs.some(code => terms.blockedCodes.has(code)) ? 'allowedMccs' : 'mccCategories',
    'blockedMccs',
  ]
  return { fields, message: `Both allowed and blocked, so blocked: ${joinFirstTen(both)}.${remark}` }
}

const unknownGroups: WarningFinder = terms => {
  const unknown = terms.mccCategories.filter(name => !mccsOfGroup(name))
  return (
    unknown.length > 0 && {
      fields: ['mccCategories'],
      message: `These groups do not exist, so they allow nothing: ${joinFirstTen(unknown)}.`,
    }
  )
}

const equalHours: WarningFinder = ({ activeHoursStart, activeHoursEnd }) =>
  (activeHoursStart !== null || activeHoursEnd !== null) &&
  (activeHoursStart ?? 0) === (activeHoursEnd ?? 0) && {
    fields: ['activeHoursStart', 'activeHoursEnd'],
    message: 'activeHoursStart and activeHoursEnd are the same hour: the agent may spend all day.',
  }

const autoApprovalWithPasskey: WarningFinder = ({ requireAttestation, autoApproveLimitCents }) =>
  requireAttestation &&
  autoApproveLimitCents !== null && {
    fields: ['autoApproveLimitCents', 'requireAttestation'],
    message: `The auto-approve limit of ${formatMoney(autoApproveLimitCents)} has no effect: requireAttestation requires a person for every intent.`,
  }

const finders: readonly WarningFinder[] = [
  ...zeroLimits,
  unreachable(
    'dailyLimitCents',
    'monthlyLimitCents',
    (day, month) =>
      `The daily limit of ${formatMoney(day)} has no effect: the monthly limit of ${formatMoney(month)} is lower.`,
  ),
  unreachable(
    'maxTransactionCents',
    'dailyLimitCents',
    (payment, day) =>
      `The limit of ${formatMoney(payment)} for one payment has no effect: the daily limit is ${formatMoney(day)}.`,
  ),
  unreachable(
    'maxTransactionCents',
    'monthlyLimitCents',
    (payment, month) =>
      `The limit of ${formatMoney(payment)} for one payment has no effect: the monthly limit is ${formatMoney(month)}.`,
  ),
  unreachable(
    'autoApproveLimitCents',
    'maxTransactionCents',
    (autoApprove, payment) =>
      `The auto-approve limit of ${formatMoney(autoApprove)} exceeds the limit of ${formatMoney(payment)} for one payment: everything above that is denied.`,
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

export const policyContradictions = (terms: PolicyTerms): PolicyWarning[] =>
  finders
    .flatMap(find => find(terms) || [])
    .map(({ fields, message }) => ({ fields: fields.map(jsonName), message }))
