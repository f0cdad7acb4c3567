import { describe, expect, test } from '@jest/globals'
import { addTolerance, amountToHold } from '../../../src/control/rules/amount-rules.ts'
import {
  type SpendCounters,
  type SpendRequest,
  zeroSpendCounters,
} from '../../../src/control/rules/decision.ts'
import { cents } from '../../../src/values/money.ts'
import {
  budgetOf,
  decideUnder,
  outcomeOf,
  plainRequest,
  type RulesInput,
} from '../../support/control/decide.ts'

describe('the amount that is held', () => {
  test.each([
    [1_000n, null, 1_000n],
    [1_000n, 0, 1_000n],
    [1_000n, 5, 1_050n],
    [999n, 5, 1_049n],
    [1n, 0.01, 2n],
    [333n, 12.5, 375n],
  ])('for %d cents and a tolerance of %s percent is %d', (amount, percent, held) => {
    expect(addTolerance(cents(amount), percent)).toBe(held)
  })

  test.each<[string, RulesInput, Partial<SpendRequest>, Partial<SpendCounters>, bigint]>([
    ['one payment', { maxTransactionEuros: 20.5 }, {}, {}, 2_050n],
    ['the day', { dailyLimitEuros: 100 }, {}, { dayCents: cents(7_900n) }, 2_100n],
    ['the month', { monthlyLimitEuros: 100 }, {}, { monthCents: cents(8_000n) }, 2_000n],
    ['a budget', {}, { budgets: [budgetOf('run', cents(5_000n), cents(2_990n))] }, {}, 2_010n],
  ])(
    'has no more tolerance than the limit of %s leaves, and is not refused for it',
    (_, rules, request, counters, held) => {
      const ruling = decideUnder({ amountTolerancePercent: 50, ...rules }, request, counters)
      expect(outcomeOf(ruling)).toBe('pass')
      expect(ruling.holdCents).toBe(held)
    },
  )
})

test('holds exactly the amount without terms', () => {
  expect(amountToHold(null, { request: plainRequest, counters: zeroSpendCounters })).toBe(2_000n)
})
