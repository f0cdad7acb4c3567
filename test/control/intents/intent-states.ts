import { describe, expect, test } from '@jest/globals'
import { intentMachine, likenessOf } from '../../../src/control/intents/intent.ts'

describe('the states of an intent', () => {
  test('lead from the first one to an end, and from no end on', () => {
    expect(intentMachine.initial).toBe('created')
    const ends = intentMachine.states.filter(intentMachine.isFinal)
    expect(ends).toEqual(['denied', 'cancelled', 'expired', 'completed'])
    expect(intentMachine.can('created', 'completed')).toBe(false)
    expect(intentMachine.can('approved', 'denied')).toBe(false)
  })
})

describe('the likeness of an intent', () => {
  const one = { merchant: 'Bücher & Söhne', amountEuros: 1_999n, runId: 'run_1' }

  test.each([
    ['the merchant in other letters', { merchant: 'BÜCHER  &  SÖHNE' }, true],
    ['another merchant', { merchant: 'Bücher & Töchter' }, false],
    ['a cent more', { amountEuros: 2_000n }, false],
    ['another run', { runId: 'run_2' }, false],
  ])('to one with %s', (_, members, isAlike) => {
    expect(likenessOf({ ...one, ...members }) === likenessOf(one)).toBe(isAlike)
  })

  test('is none outside of a run: who pays the same again and again means it', () => {
    expect(likenessOf({ ...one, runId: null })).toBeNull()
  })
})
