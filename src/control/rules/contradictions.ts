import { plainIban } from '../../values/iban.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { looksLikeIban, mccGroup } from '../merchants/index.ts'
import type { Terms } from './evaluation.ts'
import { listed } from './short-list.ts'
import type { Rules } from './rules.ts'

/** Members of a policy that cannot be meant together, or do nothing. */
export interface Warning {
  readonly fields: (keyof Rules)[]
  readonly message: string
}

type Finder = (terms: Terms) => Warning | undefined | false

const limits = [
  ['maxTransactionEuros', 'The limit for one payment', 'every payment is denied'],
  ['dailyLimitEuros', 'The daily limit', 'every payment is denied'],
  ['monthlyLimitEuros', 'The monthly limit', 'every payment is denied'],
  ['autoApproveLimitEuros', 'The limit up to which no person is asked', 'a person is asked about everything'],
] as const

type Limit = (typeof limits)[number][0]

const ofNothing = limits.map(
  ([field, title, effect]): Finder =>
    terms =>
      terms[field] === 0n && { fields: [field], message: `${title} is € 0.00: ${effect}.` },
)

/** A wider limit that a narrower one of these keeps from being reached. */
const outdone =
  (wide: Limit, narrow: Limit, said: (wide: Euros, narrow: Euros) => string): Finder =>
  terms => {
    const [above, below] = [terms[wide], terms[narrow]]
    if (above === null || below === null || above <= below) return undefined
    return { fields: [wide, narrow], message: said(above, below) }
  }

const onBothLists: Finder = terms => {
  const both = terms.merchantAllowlist.filter(
    name => terms.blocks(name, looksLikeIban(name) ? plainIban(name) : null) !== undefined,
  )
  if (both.length === 0) return undefined
  const all = both.length === terms.merchantAllowlist.length ? ' No merchant is left to be paid.' : ''
  return {
    fields: ['merchantAllowlist', 'merchantBlocklist'],
    message: `Allowed and blocked at once, so blocked: ${listed(both)}.${all}`,
  }
}

const codesInBoth: Finder = terms => {
  const both = [...terms.admittedCodes].filter(code => terms.blockedCodes.has(code))
  if (both.length === 0) return undefined
  const all = both.length === terms.admittedCodes.size ? ' No category is left to be paid.' : ''
  const fields: Warning['fields'] = [
    terms.allowedMccs.some(code => terms.blockedCodes.has(code)) ? 'allowedMccs' : 'mccCategories',
    'blockedMccs',
  ]
  return { fields, message: `Admitted and blocked at once, so blocked: ${listed(both)}.${all}` }
}

const unknownGroups: Finder = terms => {
  const unknown = terms.mccCategories.filter(name => !mccGroup(name))
  return (
    unknown.length > 0 && {
      fields: ['mccCategories'],
      message: `Nobody knows these groups, and they admit nothing: ${listed(unknown)}.`,
    }
  )
}

const noHours: Finder = ({ activeHoursStart, activeHoursEnd }) =>
  (activeHoursStart !== null || activeHoursEnd !== null) &&
  (activeHoursStart ?? 0) === (activeHoursEnd ?? 0) && {
    fields: ['activeHoursStart', 'activeHoursEnd'],
    message: 'The hours begin and end at the same one: the agent may spend all day.',
  }

const approvedByPasskey: Finder = ({ requireAttestation, autoApproveLimitEuros }) =>
  requireAttestation &&
  autoApproveLimitEuros !== null && {
    fields: ['autoApproveLimitEuros', 'requireAttestation'],
    message: `Up to ${formatEuros(autoApproveLimitEuros)} no person would be asked, but requireAttestation asks one about everything.`,
  }

const finders: readonly Finder[] = [
  ...ofNothing,
  outdone(
    'dailyLimitEuros',
    'monthlyLimitEuros',
    (day, month) =>
      `The daily limit of ${formatEuros(day)} has no effect: the monthly limit of ${formatEuros(month)} is reached before.`,
  ),
  outdone(
    'maxTransactionEuros',
    'dailyLimitEuros',
    (one, day) =>
      `The limit of ${formatEuros(one)} for one payment has no effect: the daily limit is ${formatEuros(day)}.`,
  ),
  outdone(
    'maxTransactionEuros',
    'monthlyLimitEuros',
    (one, month) =>
      `The limit of ${formatEuros(one)} for one payment has no effect: the monthly limit is ${formatEuros(month)}.`,
  ),
  outdone(
    'autoApproveLimitEuros',
    'maxTransactionEuros',
    (alone, one) =>
      `Up to ${formatEuros(alone)} no person would be asked, but above ${formatEuros(one)} everything is denied.`,
  ),
  approvedByPasskey,
  onBothLists,
  codesInBoth,
  unknownGroups,
  noHours,
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

/** What an owner can hardly have meant; the decisions follow the rules all the same. */
export const contradictionsIn = (terms: Terms): Warning[] => finders.flatMap(find => find(terms) || [])
