import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { decide, holdFor, intentMachine, type Ruling } from '../../src/control/intents/intent.ts'
import { type Euros, inWords } from '../../src/kernel/money.ts'

const amount = fc.oneof(fc.bigInt({ min: 1n, max: 200n }), fc.bigInt({ min: 1n, max: 10_000_000_000_000n }))
const limit = fc.oneof(fc.bigInt({ min: 0n, max: 200n }), fc.bigInt({ min: 0n, max: 10_000_000_000_000n }))

const none: Ruling = {
  policyId: null,
  policyVersion: null,
  autoApproveLimitEuros: null,
  requireAttestation: false,
  amountTolerancePercent: null,
}

const ruling: fc.Arbitrary<Ruling> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(none) },
  {
    weight: 5,
    arbitrary: fc.record({
      policyId: fc.constant('policy_1'),
      policyVersion: fc.integer({ min: 1, max: 9 }),
      autoApproveLimitEuros: fc.option(limit, { nil: null }),
      requireAttestation: fc.boolean(),
      amountTolerancePercent: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
    }),
  },
)

const PLENTY = 10n ** 20n

/** What a person would say who has the policy before him. */
function oracle({ policyId, autoApproveLimitEuros: most, requireAttestation }: Ruling, asked: Euros) {
  if (policyId === null) return { alone: false, because: /has no policy/ }
  if (requireAttestation) return { alone: false, because: /passkey/ }
  if (most === null) return { alone: false, because: /approves nothing by itself/ }
  return asked > most
    ? { alone: false, because: /is above the limit/ }
    : { alone: true, because: /is within/ }
}

describe('a decision', () => {
  test('is the oracle’s, whatever the policy and the amount', () => {
    fc.assert(
      fc.property(ruling, amount, (given, asked) => {
        const { alone, because } = oracle(given, asked)
        const decision = decide(given, asked, PLENTY)
        expect(decision).toMatchObject({
          allowed: true,
          requiresApproval: !alone,
          policyId: given.policyId,
          policyVersion: given.policyVersion,
          riskScore: null,
        })
        expect(decision.reason).toMatch(because)
        expect(decision.checks.map(({ outcome, message }) => ({ outcome, message }))).toEqual([
          { outcome: alone ? 'pass' : 'review', message: decision.reason },
        ])
      }),
      { numRuns: 500 },
    )
  })

  test('never lets pass more than one with a smaller amount', () => {
    fc.assert(
      fc.property(ruling, amount, amount, (given, one, other) => {
        const [less, more] = one < other ? [one, other] : [other, one]
        const alone = (asked: Euros) => !decide(given, asked, PLENTY).requiresApproval
        expect(alone(more) && !alone(less)).toBe(false)
      }),
    )
  })

  test('has figures that fit together, and says them in words', () => {
    fc.assert(
      fc.property(limit, amount, (most, asked) => {
        const given = { ...none, policyId: 'policy_1', policyVersion: 1 }
        const { reason, checks } = decide({ ...given, autoApproveLimitEuros: most }, asked, PLENTY)
        const left = most > asked ? most - asked : 0n
        expect(checks).toMatchObject([
          {
            rule: 'autoApproveLimitEuros',
            limit: Number(most) / 100,
            used: Number(asked) / 100,
            remaining: Number(left) / 100,
          },
        ])
        expect(reason).toContain(inWords(asked))
        expect(reason).toContain(inWords(most))
      }),
    )
  })

  test('about a passkey has no figures: it is no limit', () => {
    const given = { ...none, policyId: 'policy_1', autoApproveLimitEuros: 5_000n, requireAttestation: true }
    expect(decide(given, 1n, PLENTY).checks).toEqual([
      {
        rule: 'requireAttestation',
        outcome: 'review',
        limit: null,
        used: null,
        remaining: null,
        message: 'The policy asks for a passkey: a person approves every intent.',
      },
    ])
  })
})

describe('what is held', () => {
  test.each([
    [1_000n, null, 1_000n],
    [1_000n, 0, 1_000n],
    [1_000n, 5, 1_050n],
    [999n, 5, 1_049n],
    [1n, 0.01, 2n],
    [333n, 12.5, 375n],
  ])('for %d cents and a tolerance of %s percent is %d', (cents, percent, held) => {
    expect(holdFor(cents, percent)).toBe(held)
  })

  test('must be there, to the cent, where nobody is asked', () => {
    const given = { ...none, policyId: 'policy_1', autoApproveLimitEuros: 5_000n, amountTolerancePercent: 10 }
    expect(decide(given, 1_000n, 1_100n)).toMatchObject({ allowed: true, requiresApproval: false })
    const { allowed, requiresApproval, reason, checks } = decide(given, 1_000n, 1_099n)
    expect([allowed, requiresApproval, reason]).toEqual([
      false,
      false,
      '€ 11.00 are needed, € 10.99 are available.',
    ])
    expect(checks.map(({ rule, outcome }) => [rule, outcome])).toEqual([
      ['autoApproveLimitEuros', 'pass'],
      ['insufficient_funds', 'fail'],
    ])
  })

  test('is not asked about before a person is', () => {
    expect(decide(none, 1_000n, 0n)).toMatchObject({ allowed: true, requiresApproval: true })
  })
})

describe('the states of an intent', () => {
  test('lead from the first one to an end, and from no end on', () => {
    expect(intentMachine.initial).toBe('created')
    const ends = intentMachine.states.filter(intentMachine.isFinal)
    expect(ends).toEqual(['denied', 'cancelled', 'expired', 'completed'])
    expect(intentMachine.can('created', 'completed')).toBe(false)
    expect(intentMachine.can('approved', 'denied')).toBe(false)
  })
})
