import { asksForSteps } from '../../values/approval-steps.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { countries } from '../../values/countries.ts'
import { normalizeIban } from '../../values/iban.ts'
import { addCents, type Cents, cents, NO_CENTS, subtractCents } from '../../values/money.ts'
import { looksLikeIban, mccCodes } from '../merchants/index.ts'
import {
  amountToHold,
  autoApproveRule,
  dailyLimitRule,
  maxTransactionRule,
  monthlyLimitRule,
} from './amount-rules.ts'
import { type SpendCounters, type SpendRequest, zeroSpendCounters } from './decision.ts'
import type { PolicyTerms } from './evaluation.ts'
import { approvalStepsRule, DEFAULT_ATTESTATION_MINUTES } from './person-rules.ts'

export interface SpendSituation extends SpendRequest, SpendCounters {
  readonly chargedCents: Cents | null
}

type Change = Partial<SpendSituation>

/** Changes to a harmless situation that a rule should stop or let through, the nearest to its limit first. */
interface ProbeCases {
  readonly stopped: readonly Change[]
  readonly passing: readonly Change[]
}

const payeeFor = (pattern: string): Pick<SpendSituation, 'merchant' | 'payeeIban'> =>
  looksLikeIban(pattern)
    ? { merchant: 'Any shop', payeeIban: normalizeIban(pattern) }
    : { merchant: pattern.startsWith('*.') ? `shop${pattern.slice(1)}` : pattern, payeeIban: null }

const isAllowedCode = ({ blockedCodes, allowedCodes }: PolicyTerms, code: string): boolean =>
  !blockedCodes.has(code) && (allowedCodes.size === 0 || allowedCodes.has(code))

function nearestCode(code: string, isWanted: (code: string) => boolean): string[] {
  const distance = (other: string): number => Math.abs(Number(other) - Number(code))
  const candidates = mccCodes.filter(other => other !== code && isWanted(other))
  const least = Math.min(...candidates.map(distance))
  return candidates.filter(other => distance(other) === least).slice(0, 1)
}

const ONE_EURO = cents(100n)

const lowestAsked = ({ approval: [first] }: PolicyTerms): Cents | null =>
  first ? cents(first.aboveCents) : null

const harmlessAmount = (terms: PolicyTerms): Cents =>
  [
    terms.maxTransactionCents,
    terms.dailyLimitCents,
    terms.monthlyLimitCents,
    terms.autoApproveLimitCents,
    lowestAsked(terms),
  ].reduce<Cents>((least, limit) => (limit !== null && limit > 0n && limit < least ? limit : least), ONE_EURO)

function harmlessPayee({ merchantAllowlist, findBlocked }: PolicyTerms): ReturnType<typeof payeeFor> {
  const payees = (merchantAllowlist.length > 0 ? merchantAllowlist : ['Any shop']).map(payeeFor)
  const isNotBlocked = ({ merchant, payeeIban }: (typeof payees)[number]): boolean =>
    findBlocked(merchant, payeeIban) === undefined
  return payees.find(isNotBlocked) ?? payees[0] ?? payeeFor('Any shop')
}

function harmlessCode(terms: PolicyTerms): string | null {
  const { allowedCodes, blockedCodes } = terms
  const [blocked] = blockedCodes
  if (allowedCodes.size > 0) return [...allowedCodes].find(code => isAllowedCode(terms, code)) ?? null
  return blocked === undefined ? null : (nearestCode(blocked, code => isAllowedCode(terms, code))[0] ?? null)
}

const atHour = (day: Date, hour: number): Date =>
  new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), day.getUTCDate(), hour))

export function allowedSpendSituation(terms: PolicyTerms, now: Date): SpendSituation {
  const { activeHoursStart, activeHoursEnd, requireAttestation, approval } = terms
  const amountCents = harmlessAmount(terms)
  const at = activeHoursStart === null && activeHoursEnd === null ? now : atHour(now, activeHoursStart ?? 0)
  return {
    ...zeroSpendCounters,
    kind: 'intent',
    at,
    amountCents,
    chargedCents: null,
    ...harmlessPayee(terms),
    mcc: harmlessCode(terms),
    country: terms.allowedCountries[0] ?? null,
    agentStatus: 'active',
    policyEndsAt: null,
    intentId: null,
    possibleDuplicateOf: null,
    budgets: [],
    risk: null,
    approval: requireAttestation || asksForSteps(approval, amountCents) ? { attestedAt: at } : null,
    walletFrozen: false,
    availableCents: null,
  }
}

const CENT = cents(1n)
const MAX_NAMES = 10
const MINUTE = minutes(1)
const DAY = minutes(24 * 60)

const paymentLimitCases = (limit: Cents | null): ProbeCases => ({
  stopped: [{ amountCents: addCents(limit ?? NO_CENTS, CENT) }],
  passing: limit ? [{ amountCents: limit }] : [],
})

const periodLimitCases = (
  limit: Cents | null,
  amount: Cents,
  countersWith: (used: Cents) => Change,
): ProbeCases => {
  const room = subtractCents(limit ?? NO_CENTS, amount)
  return room < 0n
    ? { stopped: [countersWith(NO_CENTS)], passing: [] }
    : { stopped: [countersWith(addCents(room, CENT))], passing: [countersWith(room)] }
}

type ProbeCaseBuilder = (terms: PolicyTerms, harmless: SpendSituation) => ProbeCases

export const ruleProbeCases: Readonly<Record<string, ProbeCaseBuilder>> = {
  expiresAfterMinutes: (_, { at }) => ({
    stopped: [{ policyEndsAt: at }],
    passing: [{ policyEndsAt: addMs(at, MINUTE) }],
  }),
  requireIntent: () => ({
    stopped: [{ kind: 'card' }],
    passing: [{ kind: 'card', intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz' }],
  }),
  merchantBlocklist({ merchantBlocklist }, { merchant, payeeIban }) {
    const payees = merchantBlocklist.slice(0, MAX_NAMES).map(payeeFor)
    return { stopped: payees, passing: [...payees.map(otherPayee), { merchant, payeeIban }] }
  },
  merchantAllowlist: (_, { merchant, payeeIban }) => ({
    stopped: [otherPayee({ merchant })],
    passing: [{ merchant, payeeIban }],
  }),
  blockedMccs(terms) {
    const [blocked = ''] = terms.blockedCodes
    const near = nearestCode(blocked, code => isAllowedCode(terms, code))
    return { stopped: [{ mcc: blocked }], passing: near.map(mcc => ({ mcc })) }
  },
  mccCategories(terms, { mcc }) {
    const isOutside = (code: string): boolean =>
      !terms.allowedCodes.has(code) && !terms.blockedCodes.has(code)
    return {
      stopped: nearestCode(mcc ?? '0000', isOutside).map(code => ({ mcc: code })),
      passing: [...terms.allowedCodes].slice(0, 1).map(first => ({ mcc: mcc ?? first })),
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
    const end = addMs(start, span === 0 ? DAY : span * 60 * MINUTE)
    return {
      stopped: [{ at: addMs(start, -MINUTE) }, { at: end }],
      passing: [{ at: start }, { at: addMs(end, -MINUTE) }],
    }
  },
  cooldownMinutes: ({ cooldownMinutes }, { at }) => ({
    stopped: [{ lastSpendAt: addMs(at, -minutes((cooldownMinutes ?? 1) - 1)) }],
    passing: [{ lastSpendAt: addMs(at, -minutes(cooldownMinutes ?? 0)) }],
  }),
  maxUsageCount: ({ maxUsageCount }) => ({
    stopped: [{ uses: maxUsageCount ?? 0 }],
    passing: [{ uses: (maxUsageCount ?? 1) - 1 }],
  }),
  [maxTransactionRule.name]: ({ maxTransactionCents }) => paymentLimitCases(maxTransactionCents),
  [dailyLimitRule.name]: ({ dailyLimitCents }, { amountCents }) =>
    periodLimitCases(dailyLimitCents, amountCents, used => ({ dayCents: used, monthCents: used })),
  [monthlyLimitRule.name]: ({ monthlyLimitCents }, { amountCents }) =>
    periodLimitCases(monthlyLimitCents, amountCents, used => ({ monthCents: used })),
  requireAttestation({ attestationWindowMinutes }, { at }) {
    const window = minutes(attestationWindowMinutes ?? DEFAULT_ATTESTATION_MINUTES)
    const attested = (age: number): Change => ({ approval: { attestedAt: addMs(at, -age) } })
    return { stopped: [attested(window + MINUTE)], passing: [attested(window)] }
  },
  [approvalStepsRule.name](terms) {
    const { stopped, passing } = paymentLimitCases(lowestAsked(terms))
    return { stopped: stopped.map(one => ({ ...one, approval: null })), passing }
  },
  [autoApproveRule.name]: ({ autoApproveLimitCents }) => paymentLimitCases(autoApproveLimitCents),
  amountTolerancePercent(terms, harmless) {
    const maxCharge = amountToHold(terms, { request: harmless, counters: harmless })
    return { stopped: [{ chargedCents: addCents(maxCharge, CENT) }], passing: [{ chargedCents: maxCharge }] }
  },
}

const otherPayee = ({ merchant }: Pick<SpendSituation, 'merchant'>): Change => ({
  merchant: `${merchant}x`,
  payeeIban: null,
})
