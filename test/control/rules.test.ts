import './rules/policy-cache.ts'
import './rules/decision-reasons.ts'
import './rules/card-terms.ts'
import './rules/card-payments.ts'
import { describe, expect, test } from '@jest/globals'
import { policyRuleTable } from '../../src/control/rules/decide.ts'
import type { SpendCounters, SpendRequest } from '../../src/control/rules/decision.ts'
import { type Cents, cents, NO_CENTS } from '../../src/values/money.ts'
import {
  atTime,
  budgetOf,
  decideUnder,
  limitWith,
  mandateWith,
  NOON,
  outcomeOf,
  type RulesInput,
  riskWith,
} from '../support/control/decide.ts'

const amountOf = (cents: Cents) => ({ amountCents: cents })
const attested = (time: string) => ({ approval: { attestedAt: atTime(time).at } })
type Case = [
  rules: RulesInput,
  request: Partial<SpendRequest>,
  counters: Partial<SpendCounters>,
  outcome: string,
]

const above = (aboveEuros: number) => ({
  aboveEuros,
  of: 'owners' as const,
  need: 2,
  withinMinutes: 60,
  then: 'deny' as const,
})

/** Each rule at its limit and one step beyond. */
const casesByRule: Readonly<Record<string, Case[]>> = {
  agentStatus: [
    [{}, { agentStatus: 'active' }, {}, 'pass'],
    [{}, { agentStatus: 'frozen' }, {}, 'fail'],
  ],
  cardStatus: [
    [{}, { namedCard: { id: 'card_1', status: 'active' } }, {}, 'pass'],
    [{}, { namedCard: { id: 'card_1', status: 'frozen' } }, {}, 'pass'],
  ],
  expiresAfterMinutes: [
    [{ expiresAfterMinutes: 1 }, { policyEndsAt: new Date(NOON.getTime() + 1) }, {}, 'pass'],
    [{ expiresAfterMinutes: 1 }, { policyEndsAt: NOON }, {}, 'pass'],
    [{ expiresAfterMinutes: 1, expirationAction: 'freeze' }, { policyEndsAt: NOON }, {}, 'fail'],
    [{ expiresAfterMinutes: 1, expirationAction: 'close' }, { policyEndsAt: NOON }, {}, 'fail'],
  ],
  requireIntent: [
    [{ requireIntent: true }, { kind: 'card' }, {}, 'fail'],
    [{ requireIntent: true }, { kind: 'card', intentId: 'intent_1' }, {}, 'pass'],
    [{ requireIntent: true }, { kind: 'intent' }, {}, 'pass'],
  ],
  merchantBlocklist: [
    [{ merchantBlocklist: ['BOOKSHOP'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['Bookshops'] }, {}, {}, 'pass'],
    [{ merchantBlocklist: ['Bookshop'], merchantAllowlist: ['Bookshop'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['Bооkshop'] }, {}, {}, 'fail'],
    [{ merchantBlocklist: ['*.example.com'] }, { merchant: 'shop.example.com' }, {}, 'fail'],
  ],
  merchantAllowlist: [
    [{ merchantAllowlist: ['bookshop'] }, {}, {}, 'pass'],
    [{ merchantAllowlist: ['Library'] }, {}, {}, 'fail'],
    [{ merchantAllowlist: ['Bооkshop'] }, {}, {}, 'fail'],
    [{ merchantAllowlist: [] }, {}, {}, 'pass'],
  ],
  blockedMccs: [
    [{ blockedMccs: ['5942'] }, {}, {}, 'fail'],
    [{ blockedMccs: ['5943'] }, {}, {}, 'pass'],
    [{ blockedMccs: ['5942'], allowedMccs: ['5942'] }, {}, {}, 'fail'],
    [{ blockedMccs: ['5942'] }, { mcc: null }, {}, 'review'],
  ],
  mccCategories: [
    [{ mccCategories: ['travel'] }, { mcc: '4511' }, {}, 'pass'],
    [{ mccCategories: ['travel'] }, {}, {}, 'fail'],
    [{ mccCategories: ['travel'], allowedMccs: ['5942'] }, {}, {}, 'pass'],
    [{ allowedMccs: ['5943'] }, {}, {}, 'fail'],
    [{ allowedMccs: ['5942'] }, { mcc: null }, {}, 'review'],
  ],
  allowedCountries: [
    [{ allowedCountries: ['DE', 'FR'] }, {}, {}, 'pass'],
    [{ allowedCountries: ['FR'] }, {}, {}, 'fail'],
    [{ allowedCountries: ['FR'] }, { country: null }, {}, 'review'],
  ],
  lockToFirstMerchant: [
    [{ lockToFirstMerchant: true }, {}, {}, 'pass'],
    [{ lockToFirstMerchant: true }, {}, { firstMerchant: 'BOOKSHOP' }, 'pass'],
    [{ lockToFirstMerchant: true }, {}, { firstMerchant: 'Library' }, 'fail'],
    [{ lockToFirstMerchant: false }, {}, { firstMerchant: 'Library' }, 'pass'],
  ],
  boundMerchant: [
    [{}, { budgets: [{ ...budgetOf('run', cents(5_000n), NO_CENTS), merchant: 'BOOKSHOP' }] }, {}, 'pass'],
    [{}, { budgets: [{ ...budgetOf('run', cents(5_000n), NO_CENTS), merchant: 'Library' }] }, {}, 'fail'],
    [{}, { budgets: [{ ...budgetOf('run', cents(5_000n), NO_CENTS), merchant: null }] }, {}, 'pass'],
  ],
  activeHoursStart: [
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, atTime('08:59:59.999'), {}, 'fail'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, atTime('09:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, atTime('16:59:59.999'), {}, 'pass'],
    [{ activeHoursStart: 9, activeHoursEnd: 17 }, atTime('17:00:00.000'), {}, 'fail'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, atTime('23:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, atTime('05:59:59.999'), {}, 'pass'],
    [{ activeHoursStart: 22, activeHoursEnd: 6 }, atTime('06:00:00.000'), {}, 'fail'],
    [{ activeHoursStart: 7, activeHoursEnd: 7 }, atTime('03:00:00.000'), {}, 'pass'],
    [{ activeHoursStart: 13 }, {}, {}, 'fail'],
    [{ activeHoursEnd: 13 }, {}, {}, 'pass'],
  ],
  cooldownMinutes: [
    [{ cooldownMinutes: 5 }, {}, {}, 'pass'],
    [{ cooldownMinutes: 5 }, {}, { lastSpendAt: atTime('11:55:00.000').at }, 'pass'],
    [{ cooldownMinutes: 5 }, {}, { lastSpendAt: atTime('11:55:00.001').at }, 'fail'],
    [{ cooldownMinutes: 0 }, {}, { lastSpendAt: NOON }, 'pass'],
  ],
  maxUsageCount: [
    [{ maxUsageCount: 3 }, {}, { uses: 2 }, 'pass'],
    [{ maxUsageCount: 3 }, {}, { uses: 3 }, 'fail'],
  ],
  maxTransactionEuros: [
    [{ maxTransactionEuros: 20 }, {}, {}, 'pass'],
    [{ maxTransactionEuros: 20 }, amountOf(cents(2_001n)), {}, 'fail'],
    [{ maxTransactionEuros: 0 }, amountOf(cents(1n)), {}, 'fail'],
  ],
  dailyLimitEuros: [
    [{ dailyLimitEuros: 70 }, {}, { dayCents: cents(5_000n) }, 'pass'],
    [{ dailyLimitEuros: 70 }, {}, { dayCents: cents(5_001n) }, 'fail'],
    [{ dailyLimitEuros: 70 }, amountOf(cents(1n)), { dayCents: cents(9_000n) }, 'fail'],
    [{ dailyLimitEuros: 0 }, amountOf(cents(1n)), {}, 'fail'],
  ],
  monthlyLimitEuros: [
    [{ monthlyLimitEuros: 70 }, {}, { monthCents: cents(5_000n) }, 'pass'],
    [{ monthlyLimitEuros: 70 }, {}, { monthCents: cents(5_001n) }, 'fail'],
  ],
  budget: [
    [
      {},
      { budgets: [budgetOf('run', cents(5_000n), cents(3_000n)), budgetOf('card', cents(9_000n), NO_CENTS)] },
      {},
      'pass',
    ],
    [
      {},
      { budgets: [budgetOf('run', cents(5_000n), cents(3_001n)), budgetOf('card', cents(9_000n), NO_CENTS)] },
      {},
      'fail',
    ],
    [
      {},
      { budgets: [budgetOf('run', cents(5_000n), NO_CENTS), budgetOf('card', NO_CENTS, NO_CENTS)] },
      {},
      'fail',
    ],
  ],
  risk: [
    [{}, riskWith('pass'), {}, 'pass'],
    [{}, riskWith('review'), {}, 'review'],
    [{}, riskWith('deny'), {}, 'fail'],
    [{}, riskWith('freeze'), {}, 'fail'],
  ],
  possibleDuplicate: [
    [{}, { possibleDuplicateOf: 'intent_1' }, {}, 'review'],
    [{}, { possibleDuplicateOf: 'intent_1', mandate: mandateWith() }, {}, 'review'],
  ],
  requireAttestation: [
    [{ requireAttestation: true }, {}, {}, 'review'],
    [{ requireAttestation: true }, { mandate: mandateWith() }, {}, 'review'],
    [{ requireAttestation: true }, { approval: { attestedAt: null } }, {}, 'fail'],
    [{ requireAttestation: true }, attested('11:55:00.000'), {}, 'pass'],
    [{ requireAttestation: true }, attested('11:54:59.999'), {}, 'fail'],
    [{ requireAttestation: true, attestationWindowMinutes: 6 }, attested('11:54:00.000'), {}, 'pass'],
    [{ requireAttestation: true }, { kind: 'card', intentId: 'intent_1' }, {}, 'pass'],
  ],
  approval: [
    [{ approval: [above(19.99)], autoApproveLimitEuros: 20 }, {}, {}, 'review'],
    [{ approval: [above(20)], autoApproveLimitEuros: 20 }, {}, {}, 'pass'],
    [{ approval: [above(19.99)] }, { mandate: mandateWith() }, {}, 'review'],
    [{ approval: [above(19.99)] }, { approval: { attestedAt: null } }, {}, 'fail'],
    [{ approval: [above(19.99)] }, attested('11:59:00.000'), {}, 'pass'],
    [{ approval: [above(19.99)] }, { kind: 'card', intentId: 'intent_1' }, {}, 'pass'],
  ],
  mandate: [
    [
      { autoApproveLimitEuros: 10 },
      { mandate: mandateWith({ perTransactionCents: cents(2_000n) }) },
      {},
      'pass',
    ],
    [
      { autoApproveLimitEuros: null },
      { mandate: mandateWith(limitWith(cents(7_000n), cents(5_000n))) },
      {},
      'pass',
    ],
    [{ autoApproveLimitEuros: null }, { mandate: mandateWith({ count: { limit: 2, used: 1 } }) }, {}, 'pass'],
  ],
  autoApproveLimitEuros: [
    [
      { autoApproveLimitEuros: 19 },
      { mandate: mandateWith({ perTransactionCents: cents(1_999n) }) },
      {},
      'review',
    ],
    [
      { autoApproveLimitEuros: 19 },
      { mandate: mandateWith(limitWith(cents(7_000n), cents(5_001n))) },
      {},
      'review',
    ],
    [{ autoApproveLimitEuros: 19 }, { mandate: mandateWith({ count: { limit: 2, used: 2 } }) }, {}, 'review'],
    [{ autoApproveLimitEuros: 20 }, {}, {}, 'pass'],
    [{ autoApproveLimitEuros: 20 }, amountOf(cents(2_001n)), {}, 'review'],
    [{ autoApproveLimitEuros: null }, amountOf(cents(1n)), {}, 'review'],
  ],
  amountTolerancePercent: [[{ amountTolerancePercent: 10 }, {}, {}, 'pass']],
  conversionMarginPercent: [
    [
      {},
      {
        conversion: {
          price: '12.00',
          currency: 'USD',
          rate: '1.0800',
          rateDate: '2026-11-25',
          marginPercent: 3,
        },
      },
      {},
      'pass',
    ],
  ],
  walletStatus: [
    [{}, { walletFrozen: true }, {}, 'fail'],
    [{}, { walletFrozen: false }, {}, 'pass'],
  ],
  insufficient_funds: [
    [{}, { availableCents: cents(2_000n) }, {}, 'pass'],
    [{}, { availableCents: cents(1_999n) }, {}, 'fail'],
    [{ amountTolerancePercent: 10 }, { availableCents: cents(2_199n) }, {}, 'fail'],
    [{ autoApproveLimitEuros: 1 }, { availableCents: NO_CENTS, approval: { attestedAt: null } }, {}, 'fail'],
    [{}, { availableCents: null }, {}, 'pass'],
  ],
}

test('every rule of the table has cases', () => {
  expect(Object.keys(casesByRule)).toEqual(policyRuleTable.map(({ name }) => name))
})

describe.each(Object.entries(casesByRule))('%s', (rule, cases) => {
  test.each(cases.map((members, index) => [index, ...members] as const))(
    'case %#',
    (_, rules, request, counters, outcome) => {
      const ruling = decideUnder(rules, request, counters)
      expect(outcomeOf(ruling)).toBe(outcome)
      if (outcome === 'pass') return
      const check = ruling.checks.find(check => check.outcome === outcome)
      const names = rule === 'mccCategories' ? [rule, 'allowedMccs'] : [rule]
      expect(names).toContain(check?.rule)
      expect(ruling.reason).toBe(check?.message)
    },
  )
})
