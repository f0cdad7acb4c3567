import { describe, expect, test } from '@jest/globals'
import { fingerprintOf, intentMachine } from '../../../src/control/intents/intent.ts'

describe('the states of an intent', () => {
  test('lead from `created` to a final one, and from a final one nowhere', () => {
    expect(intentMachine.initial).toBe('created')
    const finalStates = intentMachine.states.filter(intentMachine.isFinal)
    expect(finalStates).toEqual(['denied', 'cancelled', 'expired', 'completed'])
    expect(intentMachine.can('created', 'completed')).toBe(false)
    expect(intentMachine.can('approved', 'denied')).toBe(false)
  })
})

describe('the fingerprint of an intent', () => {
  const intent = { merchant: 'Bücher & Söhne', amountEuros: 1_999n, runId: 'run_1' }

  test.each([
    ['is the same for the merchant in other letters', { merchant: 'BÜCHER  &  SÖHNE' }, true],
    ['differs for another merchant', { merchant: 'Bücher & Töchter' }, false],
    ['differs for a cent more', { amountEuros: 2_000n }, false],
    ['differs for another run', { runId: 'run_2' }, false],
  ])('%s', (_, members, isEqual) => {
    expect(fingerprintOf({ ...intent, ...members }) === fingerprintOf(intent)).toBe(isEqual)
  })

  test('is null outside of a run: an agent that pays the same again and again means it', () => {
    expect(fingerprintOf({ ...intent, runId: null })).toBeNull()
  })
})
