import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { encode } from 'zod'
import { storedCounters, storedRequest } from '../../../src/control/decisions/stored-decision.ts'
import { compilePolicy, decide } from '../../../src/control/rules/decide.ts'
import type { Counters, SpendRequest } from '../../../src/control/rules/decision.ts'
import { PolicyCreate } from '../../../src/control/rules/rules.ts'
import { cents, limit, outcomeOf, riskWith } from '../../support/control/decide.ts'
import { decideAgain } from '../../support/control/decide-again.ts'

const instant = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true })
const merchant = fc.constantFrom('Bookshop', 'BÜCHER & Söhne', 'shop.example.com', 'Library')
const mcc = fc.constantFrom('5942', '4511', '7372')
const hour = fc.option(fc.integer({ min: 0, max: 23 }), { nil: null })
const count = fc.option(fc.integer({ min: 1, max: 50 }), { nil: null })

const anyPolicy = fc.record({
  name: fc.constant('P'),
  maxTransactionEuros: limit,
  dailyLimitEuros: limit,
  monthlyLimitEuros: limit,
  autoApproveLimitEuros: limit,
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
  expiresAfterMinutes: count,
  expirationAction: fc.constantFrom('freeze' as const, 'close' as const, 'notify' as const),
  activeHoursStart: hour,
  activeHoursEnd: hour,
  maxUsageCount: count,
  amountTolerancePercent: fc.option(fc.integer({ min: 0, max: 200 }), { nil: null }),
})

const nullable = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null })

const anyRequest: fc.Arbitrary<SpendRequest> = fc.record({
  kind: fc.constantFrom('intent' as const, 'card' as const, 'payment' as const),
  at: instant,
  amountEuros: cents.map(amount => amount + 1n),
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
      limitEuros: cents,
      usedEuros: cents,
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
  availableEuros: nullable(cents),
})

const anyCounters: fc.Arbitrary<Counters> = fc.record({
  dayEuros: cents,
  monthEuros: cents,
  uses: fc.integer({ min: 0, max: 60 }),
  lastSpendAt: nullable(instant),
  firstMerchant: nullable(merchant),
})

const unlimited = PolicyCreate.parse({ name: 'P' })

const smallAmount = fc.bigInt({ min: 0n, max: 300n })

/** Policies, requests and counters that can only fail by amounts: about a fifth are allowed. */
const casesOfAmounts = [
  anyPolicy.map(rules => ({
    ...unlimited,
    maxTransactionEuros: rules.maxTransactionEuros,
    dailyLimitEuros: rules.dailyLimitEuros,
    monthlyLimitEuros: rules.monthlyLimitEuros,
    autoApproveLimitEuros: rules.autoApproveLimitEuros,
    amountTolerancePercent: rules.amountTolerancePercent,
  })),
  fc.tuple(anyRequest, smallAmount).map(([request, amount]) => ({
    ...request,
    kind: 'intent' as const,
    amountEuros: amount + 1n,
    agentStatus: 'active' as const,
    policyEndsAt: null,
    risk: null,
    walletFrozen: false,
    budgets: request.budgets.map(budget => ({ ...budget, merchant: null })),
  })),
  fc.record({
    dayEuros: smallAmount,
    monthEuros: smallAmount,
    uses: fc.constant(0),
    lastSpendAt: fc.constant(null),
    firstMerchant: fc.constant(null),
  }),
] as const

describe('thousands of random decisions', () => {
  test('replay to the same result from their stored rows', () => {
    fc.assert(
      fc.property(nullable(anyPolicy), anyRequest, anyCounters, (rules, request, counters) => {
        const version = rules && JSON.parse(JSON.stringify(encode(PolicyCreate, rules)))
        const row = JSON.parse(
          JSON.stringify({ request: storedRequest(request), counters: storedCounters(counters) }),
        )
        expect(
          isDeepStrictEqual(decideAgain(row, version), decide(compilePolicy(rules), request, counters)),
        ).toBe(true)
      }),
      { numRuns: 3_000 },
    )
  })

  test('never hold more than any limit leaves, and never less than the amount', () => {
    let allowedCases = 0
    fc.assert(
      fc.property(...casesOfAmounts, (rules, request, counters) => {
        const { allowed, holdEuros } = decide(compilePolicy(rules), request, counters)
        if (!allowed) return
        allowedCases++
        const limits = [
          rules.maxTransactionEuros,
          rules.dailyLimitEuros !== null ? rules.dailyLimitEuros - counters.dayEuros : null,
          rules.monthlyLimitEuros !== null ? rules.monthlyLimitEuros - counters.monthEuros : null,
          ...request.budgets.map(({ limitEuros, usedEuros }) => limitEuros - usedEuros),
        ]
        expect(holdEuros >= request.amountEuros).toBe(true)
        for (const remaining of limits) if (remaining !== null) expect(holdEuros <= remaining).toBe(true)
      }),
      { numRuns: 2_000 },
    )
    expect(allowedCases).toBeGreaterThan(100)
  })

  test('are no milder for a greater amount', () => {
    const severity = { pass: 0, review: 1, fail: 2 } as const
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, cents, (rules, request, counters, more) => {
        const outcomeFor = (amountEuros: bigint) =>
          outcomeOf(
            decide(
              compilePolicy({ ...rules, amountTolerancePercent: null }),
              { ...request, amountEuros },
              counters,
            ),
          )
        const outcome = outcomeFor(request.amountEuros)
        const outcomeForMore = outcomeFor(request.amountEuros + more)
        // With a limit on funds more can be milder: a spend that waits for a person needs no money yet.
        if (request.availableEuros !== null) return
        expect(severity[outcomeForMore as 'pass'] >= severity[outcome as 'pass']).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test('show figures that fit together, and each rule once', () => {
    fc.assert(
      fc.property(anyPolicy, anyRequest, anyCounters, (rules, request, counters) => {
        const { checks } = decide(compilePolicy(rules), request, counters)
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
