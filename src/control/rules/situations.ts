import { after, minutes } from '../../values/clock.ts'
import { countries } from '../../values/countries.ts'
import { plainIban } from '../../values/iban.ts'
import type { Euros } from '../../values/money.ts'
import { looksLikeIban, mccCodes } from '../merchants/index.ts'
import { holdFor } from './amount-rules.ts'
import type { Terms } from './evaluation.ts'
import { type Counters, type SpendRequest, untouched } from './decision.ts'
import { ATTESTATION_WINDOW } from './person-rules.ts'

/** Everything that a decision is made by, in one; and what is charged in the end. */
export interface Situation extends SpendRequest, Counters {
  readonly chargedEuros: Euros | null
}

type Change = Partial<Situation>

/** Changes that a rule should stop, and changes that it should let through, the nearest first. */
interface Sides {
  readonly stopped: readonly Change[]
  readonly passing: readonly Change[]
}

/** Whom a pattern stands for. */
const payeeFor = (pattern: string): Pick<Situation, 'merchant' | 'payeeIban'> =>
  looksLikeIban(pattern)
    ? { merchant: 'Any shop', payeeIban: plainIban(pattern) }
    : { merchant: pattern.startsWith('*.') ? `shop${pattern.slice(1)}` : pattern, payeeIban: null }

const isAdmitted = ({ blockedCodes, admittedCodes }: Terms, code: string): boolean =>
  !blockedCodes.has(code) && (admittedCodes.size === 0 || admittedCodes.has(code))

/** The nearest code that there is, this one itself not. */
function nearest(code: string, isWanted: (code: string) => boolean): string[] {
  const distance = (other: string): number => Math.abs(Number(other) - Number(code))
  const closest = mccCodes
    .filter(other => other !== code && isWanted(other))
    .reduce<{ at: number; other?: string }>(
      (best, other) => (distance(other) < best.at ? { at: distance(other), other } : best),
      { at: Number.POSITIVE_INFINITY },
    )
  return closest.other === undefined ? [] : [closest.other]
}

const ONE_EURO = 100n

/** Small enough for every limit that admits anything. */
const amountUnder = (terms: Terms): Euros =>
  [
    terms.maxTransactionEuros,
    terms.dailyLimitEuros,
    terms.monthlyLimitEuros,
    terms.autoApproveLimitEuros,
  ].reduce<Euros>((least, limit) => (limit !== null && limit > 0n && limit < least ? limit : least), ONE_EURO)

function payeeUnder({ merchantAllowlist, blocks }: Terms): ReturnType<typeof payeeFor> {
  const payees = (merchantAllowlist.length > 0 ? merchantAllowlist : ['Any shop']).map(payeeFor)
  const isFree = ({ merchant, payeeIban }: (typeof payees)[number]): boolean =>
    blocks(merchant, payeeIban) === undefined
  return payees.find(isFree) ?? payees[0] ?? payeeFor('Any shop')
}

function codeUnder(terms: Terms): string | null {
  const { admittedCodes, blockedCodes } = terms
  const [blocked] = blockedCodes
  if (admittedCodes.size > 0) return [...admittedCodes].find(code => isAdmitted(terms, code)) ?? null
  return blocked === undefined ? null : (nearest(blocked, code => isAdmitted(terms, code))[0] ?? null)
}

const atHour = (day: Date, hour: number): Date =>
  new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), hour))

/** What no rule has anything against, where the policy lets anything through. */
export function harmlessUnder(terms: Terms, now: Date): Situation {
  const { activeHoursStart, activeHoursEnd, requireAttestation } = terms
  const at = activeHoursStart === null && activeHoursEnd === null ? now : atHour(now, activeHoursStart ?? 0)
  return {
    ...untouched,
    kind: 'intent',
    at,
    amountEuros: amountUnder(terms),
    chargedEuros: null,
    ...payeeUnder(terms),
    mcc: codeUnder(terms),
    country: terms.allowedCountries[0] ?? null,
    agentStatus: 'active',
    policyEndsAt: null,
    intentId: null,
    possibleDuplicateOf: null,
    budgets: [],
    risk: null,
    approval: requireAttestation ? { attestedAt: at } : null,
    walletFrozen: false,
    availableEuros: null,
  }
}

const CENT = 1n
/** Of a long list so many names are tried. */
const FEW = 10
const MINUTE = minutes(1)
const DAY = minutes(24 * 60)

const amounts = (limit: Euros | null): Sides => ({
  stopped: [{ amountEuros: (limit ?? 0n) + CENT }],
  passing: limit ? [{ amountEuros: limit }] : [],
})

/** So much has been spent that the amount just fits, or just does not. */
const spent = (limit: Euros | null, amount: Euros, counted: (used: Euros) => Change): Sides => {
  const room = (limit ?? 0n) - amount
  return room < 0n
    ? { stopped: [counted(0n)], passing: [] }
    : { stopped: [counted(room + CENT)], passing: [counted(room)] }
}

type Sider = (terms: Terms, harmless: Situation) => Sides

/** For each rule that an owner sets: what differs from what is harmless. */
export const sides: Readonly<Record<string, Sider>> = {
  expiresAfterMinutes: (_, { at }) => ({
    stopped: [{ policyEndsAt: at }],
    passing: [{ policyEndsAt: after(at, MINUTE) }],
  }),
  requireIntent: () => ({
    stopped: [{ kind: 'card' }],
    passing: [{ kind: 'card', intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }],
  }),
  merchantBlocklist({ merchantBlocklist }, { merchant, payeeIban }) {
    const payees = merchantBlocklist.slice(0, FEW).map(payeeFor)
    return { stopped: payees, passing: [...payees.map(another), { merchant, payeeIban }] }
  },
  merchantAllowlist: (_, { merchant, payeeIban }) => ({
    stopped: [another({ merchant })],
    passing: [{ merchant, payeeIban }],
  }),
  blockedMccs(terms) {
    const [blocked = ''] = terms.blockedCodes
    const near = nearest(blocked, code => isAdmitted(terms, code))
    return { stopped: [{ mcc: blocked }], passing: near.map(mcc => ({ mcc })) }
  },
  mccCategories(terms, { mcc }) {
    const isOutside = (code: string): boolean =>
      !terms.admittedCodes.has(code) && !terms.blockedCodes.has(code)
    return {
      stopped: nearest(mcc ?? '0000', isOutside).map(code => ({ mcc: code })),
      passing: [...terms.admittedCodes].slice(0, 1).map(first => ({ mcc: mcc ?? first })),
    }
  },
  allowedCountries: ({ countries: allowed }) => ({
    stopped: [...countries]
      .filter(code => !allowed.has(code))
      .slice(0, 1)
      .map(country => ({ country })),
    passing: [{}],
  }),
  lockToFirstMerchant: (_, { merchant }) => ({
    stopped: [{ firstMerchant: `${merchant}x` }],
    passing: [{ firstMerchant: merchant }],
  }),
  activeHoursStart({ activeHoursStart, activeHoursEnd }, { at: start }) {
    const span = ((activeHoursEnd ?? 0) - (activeHoursStart ?? 0) + 24) % 24
    const end = after(start, span === 0 ? DAY : span * 60 * MINUTE)
    return {
      stopped: [{ at: after(start, -MINUTE) }, { at: end }],
      passing: [{ at: start }, { at: after(end, -MINUTE) }],
    }
  },
  cooldownMinutes: ({ cooldownMinutes }, { at }) => ({
    stopped: [{ lastSpendAt: after(at, -minutes((cooldownMinutes ?? 1) - 1)) }],
    passing: [{ lastSpendAt: after(at, -minutes(cooldownMinutes ?? 0)) }],
  }),
  maxUsageCount: ({ maxUsageCount }) => ({
    stopped: [{ uses: maxUsageCount ?? 0 }],
    passing: [{ uses: (maxUsageCount ?? 1) - 1 }],
  }),
  maxTransactionEuros: ({ maxTransactionEuros }) => amounts(maxTransactionEuros),
  dailyLimitEuros: ({ dailyLimitEuros }, { amountEuros }) =>
    spent(dailyLimitEuros, amountEuros, used => ({ dayEuros: used, monthEuros: used })),
  monthlyLimitEuros: ({ monthlyLimitEuros }, { amountEuros }) =>
    spent(monthlyLimitEuros, amountEuros, used => ({ monthEuros: used })),
  requireAttestation({ attestationWindowMinutes }, { at }) {
    const window = minutes(attestationWindowMinutes ?? ATTESTATION_WINDOW)
    const attested = (age: number): Change => ({ approval: { attestedAt: after(at, -age) } })
    return { stopped: [attested(window + MINUTE)], passing: [attested(window)] }
  },
  autoApproveLimitEuros: ({ autoApproveLimitEuros }) => amounts(autoApproveLimitEuros),
  amountTolerancePercent(terms, harmless) {
    const most = holdFor(terms, { request: harmless, counters: harmless })
    return { stopped: [{ chargedEuros: most + CENT }], passing: [{ chargedEuros: most }] }
  },
}

/** One letter more, and no account that is known. */
const another = ({ merchant }: Pick<Situation, 'merchant'>): Change => ({
  merchant: `${merchant}x`,
  payeeIban: null,
})
