import { describe, expect, test } from '@jest/globals'
import { compilePolicy, decideSpendByRules } from '../../../src/control/rules/decide.ts'
import {
  type SpendCounters,
  type SpendRequest,
  zeroSpendCounters,
} from '../../../src/control/rules/decision.ts'
import { cents, NO_CENTS } from '../../../src/values/money.ts'
import {
  atTime,
  budgetOf,
  decideUnder,
  outcomeOf,
  plainRequest,
  type RulesInput,
} from '../../support/control/decide.ts'

describe('the reason of a decision', () => {
  test.each<[string, RulesInput, Partial<SpendRequest>, Partial<SpendCounters>]>([
    [
      'The daily limit of € 70.00 is reached: € 70.00 used, € 0.00 left.',
      { dailyLimitEuros: 70 },
      {},
      { dayCents: cents(7_000n) },
    ],
    [
      'The daily limit of € 70.00 is too low for € 20.00: € 60.00 used, € 10.00 left.',
      { dailyLimitEuros: 70 },
      {},
      { dayCents: cents(6_000n) },
    ],
    ['€ 20.00 is above the limit of € 19.99 for one payment.', { maxTransactionEuros: 19.99 }, {}, {}],
    [
      'The limit of 3 payments is reached: 2 completed, 1 reserved for open intents, 0 left.',
      { maxUsageCount: 3 },
      {},
      { uses: 3, openUses: 1 },
    ],
    [
      'The limit of 3 payments is reached: 3 used, 0 left.',
      { maxUsageCount: 3 },
      {},
      { uses: 3, openUses: undefined },
    ],
    [
      'mcc is not set, and some merchant categories are blocked.',
      { blockedMccs: ['5942'] },
      { mcc: null },
      {},
    ],
    [
      'mcc is not set, and only some merchant categories are allowed.',
      { allowedMccs: ['5942'] },
      { mcc: null },
      {},
    ],
    [
      'country is not set, and only merchants in some countries are allowed.',
      { allowedCountries: ['FR'] },
      { country: null },
      {},
    ],
    [
      '€ 5,000.01 is above the limit of € 5,000.00 for one payment.',
      { maxTransactionEuros: 5_000 },
      { amountCents: cents(500_001n) },
      {},
    ],
    [
      '5 minutes must pass between two spends: 3 have passed, 2 are left.',
      { cooldownMinutes: 5 },
      {},
      { lastSpendAt: atTime('11:57:00.000').at },
    ],
    [
      'The budget of the card “card” of € 20.00 is too low for € 20.00: € 1.00 used, € 19.00 left.',
      {},
      {
        budgets: [
          budgetOf('run', cents(5_000n), cents(3_000n)),
          budgetOf('card', cents(2_000n), cents(100n)),
        ],
      },
      {},
    ],
    [
      'The budget of the run “run” of € 50.00 is too low for € 20.00: € 45.00 used, € 5.00 left.',
      { dailyLimitEuros: 70, monthlyLimitEuros: 100 },
      { budgets: [budgetOf('run', cents(5_000n), cents(4_500n))] },
      { dayCents: cents(6_000n), monthCents: cents(9_400n) },
    ],
    [
      'The monthly limit of € 100.00 is too low for € 20.00: € 96.00 used, € 4.00 left.',
      { dailyLimitEuros: 70, monthlyLimitEuros: 100 },
      { budgets: [budgetOf('run', cents(5_000n), cents(4_500n))] },
      { dayCents: cents(6_000n), monthCents: cents(9_600n) },
    ],
    [
      'The owner’s budget for the month of € 20.00 is too low for € 20.00: € 0.01 used, € 19.99 left.',
      {},
      {
        budgets: [
          { ...budgetOf('owner', cents(2_000n), cents(1n)), period: 'month' },
          budgetOf('run', cents(5_000n), cents(3_000n)),
        ],
      },
      {},
    ],
    [
      'The agent may spend from 13:00 to 15:00 UTC, and it is 12:00 UTC.',
      { activeHoursStart: 13, activeHoursEnd: 15 },
      {},
      {},
    ],
  ])('%s', (reason, rules, request, counters) => {
    expect(decideUnder(rules, request, counters).reason).toBe(reason)
  })

  test('names the missing policy, and the amount is held for a person to approve', () => {
    const ruling = decideSpendByRules(compilePolicy(null), plainRequest, zeroSpendCounters)
    expect(ruling).toMatchObject({ allowed: true, requiresApproval: true, holdCents: 2_000n })
    expect(ruling.reason).toBe('The agent has no policy: a person approves every intent.')
  })

  test('is a review, not missing money, for a spend that waits for a person', () => {
    expect(outcomeOf(decideUnder({ autoApproveLimitEuros: 1 }, { availableCents: NO_CENTS }))).toBe('review')
  })

  test('is the denial where another rule asks for a person', () => {
    const { reason, requiresApproval } = decideUnder({ autoApproveLimitEuros: 1, dailyLimitEuros: 1 })
    expect(reason).toMatch(/daily limit/)
    expect(requiresApproval).toBe(false)
  })
})
