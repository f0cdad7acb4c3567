import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { compilePolicy, decideSpendByRules } from '../../../src/control/rules/decide.ts'
import { type SpendRequest, zeroSpendCounters } from '../../../src/control/rules/decision.ts'
import { cents } from '../../../src/values/money.ts'
import {
  anyControls,
  aPolicy,
  aRequest,
  askingPolicy,
  likelyRequest,
  noControls,
  OF_MONEY,
  strictestOf,
} from '../../support/control/card-spends.ts'
import { plainRequest, policy, riskWith } from '../../support/control/decide.ts'
import { anyCounters, nullable } from '../../support/control/random-spends.ts'

const SKIPPED = 'This rule was checked with the intent that covers this payment.'

describe('a payment by card', () => {
  /** The rules that an approved intent was judged by. A rule that is missing here is judged at every payment. */
  const judgedWithIntent = [
    'cooldownMinutes',
    'maxUsageCount',
    'maxTransactionEuros',
    'dailyLimitEuros',
    'monthlyLimitEuros',
    'possibleDuplicate',
    'requireAttestation',
    'autoApproveLimitEuros',
    'amountTolerancePercent',
    'insufficient_funds',
  ]
  const ofCard = (request: SpendRequest, intentId: string | null): SpendRequest => ({
    ...request,
    kind: 'card',
    intentId,
  })

  test('that an intent covers skips the rules that the intent was judged by, and no other', () => {
    fc.assert(
      fc.property(aPolicy, aRequest, anyCounters, (rules, request, counters) => {
        const compiled = compilePolicy(rules)
        const { checks } = decideSpendByRules(compiled, ofCard(request, 'intent_1'), counters)
        const skipped = checks.filter(({ message }) => message === SKIPPED)
        const expected = compiled.rules.filter(({ name }) => judgedWithIntent.includes(name))
        expect(skipped.map(({ rule }) => rule)).toEqual(expected.map(({ name }) => name))
        expect(skipped.every(({ outcome }) => outcome === 'skip')).toBe(true)
        const judged = checks.filter(({ message }) => message !== SKIPPED)
        const intent = decideSpendByRules(
          compiled,
          { ...ofCard(request, null), intentId: 'intent_1', kind: 'payment' },
          counters,
        )
        for (const check of judged) {
          if (check.rule === 'requireIntent' || OF_MONEY.has(check.rule)) continue
          expect(intent.checks).toContainEqual(check)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  test('never waits for a person: what would wait is declined, and the reason says to declare an intent', () => {
    let declined = 0
    fc.assert(
      fc.property(
        askingPolicy,
        likelyRequest,
        anyCounters,
        nullable(anyControls),
        (rules, request, counters, card) => {
          const { allowed, requiresApproval, reason, checks } = decideSpendByRules(
            compilePolicy(rules),
            { ...ofCard(request, null), card },
            counters,
          )
          expect(requiresApproval).toBe(false)
          expect(allowed).toBe(strictestOf({ checks }) === 0)
          const wouldWait = strictestOf({ checks }) === 1
          expect(/POST \/intents/.test(reason)).toBe(wouldWait)
          if (wouldWait) declined++
        },
      ),
      { numRuns: 1_000 },
    )
    expect(declined).toBeGreaterThan(5)
  })

  test('a payment covered by an intent is not advised to declare another one', () => {
    const risky = ofCard({ ...plainRequest, ...riskWith('review') }, 'intent_1')
    const { allowed, reason } = decideSpendByRules(compilePolicy(policy({})), risky, zeroSpendCounters)
    expect(allowed).toBe(false)
    expect(reason).toContain('an intent already covers this payment')
    expect(reason).not.toContain('POST /intents')
  })

  test('that an intent covers is still within the limit of its card', () => {
    const card = { ...noControls, maxTransactionCents: cents(1_000n) }
    const covered = { ...ofCard(plainRequest, 'intent_1'), card }
    const { allowed, reason } = decideSpendByRules(
      compilePolicy(policy({ maxTransactionEuros: 5 })),
      covered,
      zeroSpendCounters,
    )
    expect([allowed, reason]).toEqual([
      false,
      'On the card: € 20.00 is above the limit of € 10.00 for one payment.',
    ])
  })
})
