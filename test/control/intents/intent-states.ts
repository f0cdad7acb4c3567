import { describe, expect, test } from '@jest/globals'
import {
  duplicateFingerprint,
  type Intent,
  intentMachine,
  unpayableIntentReason,
} from '../../../src/control/intents/intent.ts'
import { cents } from '../../../src/values/money.ts'

describe('the states of an intent', () => {
  test('lead from `created` to a final one, and from a final one nowhere', () => {
    expect(intentMachine.initial).toBe('created')
    const finalStates = intentMachine.states.filter(intentMachine.isFinal)
    expect(finalStates).toEqual(['denied', 'cancelled', 'expired', 'completed'])
    expect(intentMachine.can('created', 'completed')).toBe(false)
    expect(intentMachine.can('approved', 'denied')).toBe(false)
  })
})

test.each([
  ['is paid until the instant before it expires', -1, undefined],
  ['is paid no more at the instant at which it expires', 0, 'intent_expired'],
] as const)('an approved intent %s', (_, later, expected) => {
  const expiresAt = new Date('2026-11-20T09:30:00.000Z')
  const intent = { status: 'approved', paymentId: null, transactionId: null, expiresAt } as const
  expect(unpayableIntentReason(intent as Intent, new Date(expiresAt.getTime() + later))).toBe(expected)
})

describe('the fingerprint of an intent', () => {
  const intent = { merchant: 'Bücher & Söhne', amountCents: cents(1_999n), runId: 'run_1' }

  test.each([
    ['is the same for the merchant in other letters', { merchant: 'BÜCHER  &  SÖHNE' }, true],
    ['differs for another merchant', { merchant: 'Bücher & Töchter' }, false],
    ['differs for a cent more', { amountCents: cents(2_000n) }, false],
    ['differs for another run', { runId: 'run_2' }, false],
  ])('%s', (_, members, isEqual) => {
    expect(duplicateFingerprint({ ...intent, ...members }) === duplicateFingerprint(intent)).toBe(isEqual)
  })

  test('is null outside of a run: an agent that pays the same again and again means it', () => {
    expect(duplicateFingerprint({ ...intent, runId: null })).toBeNull()
  })
})
