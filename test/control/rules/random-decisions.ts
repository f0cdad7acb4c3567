import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  encodeDecisionCounters,
  encodeDecisionRequest,
} from '../../../src/control/decisions/stored-decision.ts'
import { compilePolicy, decideSpendByRules } from '../../../src/control/rules/decide.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { encodeJson } from '../../../src/values/json-names.ts'
import { addCents, type Cents, cents, subtractCents } from '../../../src/values/money.ts'
import { anyCents, outcomeOf } from '../../support/control/decide.ts'
import { decideAgain } from '../../support/control/decide-again.ts'
import { anyCounters, anyPolicy, anyRequest, nullable } from '../../support/control/random-spends.ts'

const unlimited = PolicyCreate.parse({ name: 'P' })

const smallAmount = fc.bigInt({ min: 0n, max: 300n }).map(cents)

/** Policies, requests and counters that can only fail by amounts: about a fifth are allowed. */
const casesOfAmounts = [
  anyPolicy.map(rules => ({
    ...unlimited,
    maxTransactionCents: rules.maxTransactionCents,
    dailyLimitCents: rules.dailyLimitCents,
    monthlyLimitCents: rules.monthlyLimitCents,
    autoApproveLimitCents: rules.autoApproveLimitCents,
    amountTolerancePercent: rules.amountTolerancePercent,
  })),
  fc.tuple(anyRequest, smallAmount).map(([request, amount]) => ({
    ...request,
    kind: 'intent' as const,
    amountCents: addCents(amount, cents(1n)),
    agentStatus: 'active' as const,
    policyEndsAt: null,
    risk: null,
    walletFrozen: false,
    budgets: request.budgets.map(budget => ({ ...budget, merchant: null })),
  })),
  fc.record({
    dayCents: smallAmount,
    monthCents: smallAmount,
    uses: fc.constant(0),
    lastSpendAt: fc.constant(null),
    firstMerchant: fc.constant(null),
  }),
] as const

describe('thousands of random decisions', () => {
  test('replay to the same result from their stored rows', () => {
    fc.assert(
      fc.property(nullable(anyPolicy), anyRequest, anyCounters, (rules, request, counters) => {
        const version = rules && JSON.parse(JSON.stringify(encodeJson(PolicyCreate, rules)))
        const row = JSON.parse(
          JSON.stringify({
            request: encodeDecisionRequest(request),
            counters: encodeDecisionCounters(counters),
          }),
        )
        expect(
          isDeepStrictEqual(
            decideAgain(row, version),
            decideSpendByRules(compilePolicy(rules), request, counters),
          ),
        ).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('never hold more than any limit leaves, and never less than the amount', () => {
    let allowedCases = 0
    fc.assert(
      fc.property(...casesOfAmounts, (rules, request, counters) => {
        const { allowed, holdCents } = decideSpendByRules(compilePolicy(rules), request, counters)
        if (!allowed) return
        allowedCases++
        const limits = [
          rules.maxTransactionCents,
          rules.dailyLimitCents !== null ? subtractCents(rules.dailyLimitCents, counters.dayCents) : null,
          rules.monthlyLimitCents !== null
            ? subtractCents(rules.monthlyLimitCents, counters.monthCents)
            : null,
          ...request.budgets.map(({ limitCents, usedCents }) => subtractCents(limitCents, usedCents)),
        ]
        expect(holdCents >= request.amountCents).toBe(true)
        for (const remaining of limits) if (remaining !== null) expect(holdCents <= remaining).toBe(true)
      }),
      { numRuns: 2_000 },
    )
    expect(allowedCases).toBeGreaterThan(100)
  })

  test('are no milder for a greater amount', () => {
    const severity = { pass: 0, review: 1, fail: 2 } as const
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, anyCents, (rules, request, counters, more) => {
        const outcomeFor = (amountCents: Cents) =>
          outcomeOf(
            decideSpendByRules(
              compilePolicy({ ...rules, amountTolerancePercent: null }),
              { ...request, amountCents },
              counters,
            ),
          )
        const outcome = outcomeFor(request.amountCents)
        const outcomeForMore = outcomeFor(addCents(request.amountCents, more))
        // With a limit on funds, a larger amount can be judged more leniently: a spend that waits for a person needs no money yet.
        if (request.availableCents !== null) return
        expect(severity[outcomeForMore as 'pass'] >= severity[outcome as 'pass']).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('show figures that fit together, and each rule once', () => {
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, (rules, request, counters) => {
        const { checks } = decideSpendByRules(compilePolicy(rules), request, counters)
        for (const { limit, used, remaining, rule } of checks)
          if (rule !== 'risk' && limit !== null && used !== null && remaining !== null)
            expect(remaining).toBeCloseTo(
              rule === 'cooldownMinutes' ? remaining : Math.max(limit - used, 0),
              2,
            )
        expect(new Set(checks.map(({ rule }) => rule)).size).toBe(checks.length)
      }),
      { numRuns: 500 },
    )
  })
})
