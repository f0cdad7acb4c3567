import fc from 'fast-check'
import type { SpendCounters, SpendRequest } from '../../../src/control/rules/decision.ts'
import type { ApprovalStep } from '../../../src/values/approval-steps.ts'
import { addCents, cents } from '../../../src/values/money.ts'
import { anyCents, limit, riskWith } from './decide.ts'

const instant = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
export const merchant = fc.constantFrom('Bookshop', 'BÜCHER & Söhne', 'shop.example.com', 'Library')
export const mcc = fc.constantFrom('5942', '4511', '7372')
const hour = fc.option(fc.integer({ min: 0, max: 23 }), { nil: null })
const count = fc.option(fc.integer({ min: 1, max: 50 }), { nil: null })

export const anyPolicy = fc.record({
  name: fc.constant('P'),
  maxTransactionCents: limit,
  dailyLimitCents: limit,
  monthlyLimitCents: limit,
  autoApproveLimitCents: limit,
  merchantAllowlist: fc.array(merchant, { maxLength: 2 }),
  merchantBlocklist: fc.array(merchant, { maxLength: 1 }),
  mccCategories: fc.array(fc.constantFrom('software', 'travel'), { maxLength: 2 }),
  allowedCountries: fc.array(fc.constantFrom('DE', 'FR'), { maxLength: 2 }),
  lockToFirstMerchant: fc.boolean(),
  cooldownMinutes: count,
  allowedMccs: fc.array(mcc, { maxLength: 2 }),
  blockedMccs: fc.array(mcc, { maxLength: 1 }),
  requireIntent: fc.boolean(),
  requireAttestation: fc.boolean(),
  attestationWindowMinutes: count,
  approval: fc.constant<ApprovalStep[]>([]),
  expiresAfterMinutes: count,
  expirationAction: fc.constantFrom('freeze' as const, 'close' as const, 'notify' as const),
  activeHoursStart: hour,
  activeHoursEnd: hour,
  maxUsageCount: count,
  amountTolerancePercent: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
  conversionMarginPercent: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  mppMethods: fc.subarray(['card' as const, 'stripe' as const]),
})

export const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })

const anyMandate = fc.record({
  id: fc.constant('mandate_1'),
  name: nullable(fc.constant('Books')),
  expiresAt: instant,
  perTransactionCents: limit,
  limits: fc.uniqueArray(
    fc.record({
      period: fc.constantFrom('day' as const, 'month' as const, 'all' as const),
      limitCents: anyCents,
      usedCents: anyCents,
    }),
    { selector: ({ period }) => period },
  ),
  count: nullable(fc.record({ limit: fc.integer({ min: 1, max: 9 }), used: fc.integer({ min: 0, max: 9 }) })),
})

export const anyRequest: fc.Arbitrary<SpendRequest> = fc.record({
  kind: fc.constantFrom('intent' as const, 'card' as const, 'payment' as const),
  at: instant,
  amountCents: anyCents.map(amount => addCents(amount, cents(1n))),
  merchant,
  mcc: nullable(mcc),
  country: nullable(fc.constantFrom('DE', 'FR', 'US')),
  agentStatus: fc.constantFrom('active', 'active', 'active', 'frozen'),
  policyEndsAt: nullable(instant),
  intentId: nullable(fc.constant('intent_1')),
  possibleDuplicateOf: nullable(fc.constant('intent_2')),
  budgets: fc.array(
    fc.record({
      level: fc.constantFrom('run' as const, 'token' as const, 'card' as const),
      id: fc.constant('x_1'),
      name: fc.constant('X'),
      limitCents: anyCents,
      usedCents: anyCents,
      merchant: nullable(fc.constantFrom('Bookshop', 'Library')),
    }),
    { maxLength: 3 },
  ),
  risk: nullable(
    fc
      .constantFrom('pass' as const, 'review' as const, 'deny' as const)
      .map(outcome => riskWith(outcome).risk),
  ),
  approval: nullable(fc.record({ attestedAt: nullable(instant) })),
  walletFrozen: fc.boolean(),
  availableCents: nullable(anyCents),
  mandate: nullable(anyMandate),
  outsideMandates: nullable(fc.constant('The mandate Books has no payment left.')),
})

export const anyCounters: fc.Arbitrary<SpendCounters> = fc.record({
  dayCents: anyCents,
  monthCents: anyCents,
  uses: fc.integer({ min: 0, max: 60 }),
  lastSpendAt: nullable(instant),
  firstMerchant: nullable(merchant),
})
