import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { cents, subtractCents } from '../../../src/values/money.ts'
import { decideUnder, limitWith, mandateWith } from '../../support/control/decide.ts'

describe('a decision inside a mandate', () => {
  const rules = { autoApproveLimitEuros: 10 }

  test('names it with what it leaves, and no approval is needed', () => {
    const mandate = mandateWith({
      perTransactionCents: cents(5_000n),
      limits: [
        { period: 'day', limitCents: cents(5_000n), usedCents: cents(1_000n) },
        { period: 'all', limitCents: cents(20_000n), usedCents: cents(6_000n) },
      ],
      count: { limit: 8, used: 1 },
    })
    const ruling = decideUnder(rules, { mandate })
    expect(ruling).toMatchObject({ allowed: true, requiresApproval: false })
    expect(ruling.reason).toBe(
      'The mandate Books approves the intent without a person, and then leaves € 20.00 today, € 120.00 in all and 6 payments.',
    )
    expect(ruling.mandate).toEqual({
      id: 'mandate_1',
      name: 'Books',
      expiresAt: '2027-01-01T00:00:00.000Z',
      perTransactionEuros: 50,
      dayLeftEuros: 20,
      monthLeftEuros: null,
      totalLeftEuros: 120,
      countLeft: 6,
    })
  })

  test('uses nothing of it where the policy approves by itself', () => {
    const ruling = decideUnder({ autoApproveLimitEuros: 20 }, { mandate: mandateWith() })
    expect([ruling.allowed, ruling.requiresApproval, ruling.mandate]).toEqual([true, false, undefined])
  })

  test('holds no more than the mandate leaves, however much the policy tolerates', () => {
    const tolerant = { ...rules, amountTolerancePercent: 50 }
    const holdUnder = (members: Parameters<typeof mandateWith>[0]) =>
      decideUnder(tolerant, { mandate: mandateWith(members) }).holdCents
    expect(holdUnder({})).toBe(3_000n)
    expect(holdUnder({ perTransactionCents: cents(2_100n) })).toBe(2_100n)
    expect(holdUnder(limitWith(cents(7_000n), cents(4_800n), 'day'))).toBe(2_200n)
  })

  test('never holds more than any of its limits leaves', () => {
    let byMandate = 0
    const amount = fc.bigInt({ min: 1n, max: 60n }).map(cents)
    const limit = fc.bigInt({ min: 1n, max: 200n }).map(cents)
    const anyMandate = fc.record({
      perTransactionCents: fc.option(limit, { nil: null }),
      limits: fc.uniqueArray(
        fc.record({
          period: fc.constantFrom('day' as const, 'month' as const, 'all' as const),
          limitCents: limit,
          usedCents: amount,
        }),
        { selector: ({ period }) => period },
      ),
    })
    const percent = fc.integer({ min: 0, max: 300 })
    fc.assert(
      fc.property(anyMandate, amount, percent, (members, amountCents, tolerance) => {
        const mandate = mandateWith(members)
        const { mandate: ruled, holdCents } = decideUnder(
          { autoApproveLimitEuros: null, amountTolerancePercent: tolerance },
          { amountCents, mandate },
        )
        if (!ruled) return
        byMandate++
        const left = mandate.limits.map(({ limitCents, usedCents }) => subtractCents(limitCents, usedCents))
        for (const most of [mandate.perTransactionCents, ...left])
          expect(most === null || (amountCents <= holdCents && holdCents <= most)).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(byMandate).toBeGreaterThan(50)
  })

  test.each<[string, Parameters<typeof decideUnder>[0], Parameters<typeof decideUnder>[1]]>([
    ['the risk', rules, { risk: { score: 60, parts: [], outcome: 'review' } }],
    ['a possible duplicate', rules, { possibleDuplicateOf: 'intent_1' }],
    ['a category that is not known', { ...rules, blockedMccs: ['7995'] }, { mcc: null }],
    ['requireAttestation', { requireAttestation: true }, {}],
  ])('still asks a person for %s', (_, ofPolicy, members) => {
    const ruling = decideUnder(ofPolicy, { ...members, mandate: mandateWith() })
    expect([ruling.allowed, ruling.requiresApproval, ruling.mandate]).toEqual([true, true, undefined])
  })

  test.each<[string, Parameters<typeof decideUnder>[0], Parameters<typeof decideUnder>[1]]>([
    ['the limit of the policy', { ...rules, dailyLimitEuros: 19 }, {}],
    ['its blocklist', { ...rules, merchantBlocklist: ['Bookshop'] }, {}],
    ['the agent', rules, { agentStatus: 'frozen' }],
    ['the wallet', rules, { availableCents: cents(1_999n) }],
  ])('is denied by %s all the same', (_, ofPolicy, members) => {
    const ruling = decideUnder(ofPolicy, { ...members, mandate: mandateWith() })
    expect([ruling.allowed, ruling.mandate]).toEqual([false, undefined])
  })

  test('never uses a mandate for a card payment, since a card network cannot wait for a person', () => {
    const ruling = decideUnder(rules, { kind: 'card', mandate: mandateWith() })
    expect([ruling.allowed, ruling.mandate]).toEqual([false, undefined])
  })
})
