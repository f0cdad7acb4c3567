import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { creditDueAfter } from '../../../src/commerce/disputes/credit.ts'
import { disputableUntil } from '../../../src/commerce/disputes/dispute.ts'
import { type Facts, standingOf, type Word } from '../../../src/commerce/disputes/money/standing.ts'

const says = fc.constantFrom<Word['says']>('credited', 'won', 'lost')
const at = fc.integer({ min: 1, max: 30 }).map(day => new Date(Date.UTC(2026, 10, day)).toISOString())
const cents = fc.option(fc.integer({ min: 1, max: 12_000 }).map(String))

const words: fc.Arbitrary<Word[]> = fc
  .tuple(
    fc.array(fc.record({ says, at, cents }), { maxLength: 6 }),
    fc.option(fc.record({ says: fc.constantFrom<Word['says']>('withdrawn', 'lapsed'), at })),
  )
  .map(([network, own]) => [
    ...network.map((word, index) => ({ ...word, id: `word_${index}` })),
    ...(own ? [{ ...own, id: 'own', cents: null }] : []),
  ])

const facts: fc.Arbitrary<Facts> = fc.record({
  words,
  isSubmitted: fc.boolean(),
  leftEuros: fc.bigInt({ min: 0n, max: 10_000n }),
  isCovered: fc.boolean(),
  isCreditDue: fc.boolean(),
})

describe('how a dispute stands', () => {
  test('depends on what was said, not on the order in which it became known', () =>
    fc.assert(
      fc.property(facts, fc.infiniteStream(fc.nat()), (given, random) => {
        const shuffled = given.words
          .map(word => ({ word, key: random.next().value ?? 0 }))
          .sort((one, other) => one.key - other.key)
          .map(({ word }) => word)
        expect(standingOf({ ...given, words: shuffled })).toEqual(standingOf(given))
      }),
      { numRuns: 10_000 },
    ))

  test('never gives the owner more than is left of the payment, nor the platform a loss that nobody has', () =>
    fc.assert(
      fc.property(facts, given => {
        const { creditedEuros, recoveredEuros, lostEuros, status } = standingOf(given)
        expect(creditedEuros).toBeLessThanOrEqual(given.leftEuros)
        expect(lostEuros).toBeLessThanOrEqual(creditedEuros)
        if (!given.isCovered || status === 'open' || status === 'submitted') expect(lostEuros).toBe(0n)
        if (!given.isCovered) expect(creditedEuros).toBeLessThanOrEqual(recoveredEuros)
        if (lostEuros > 0n) expect(creditedEuros - recoveredEuros).toBe(lostEuros)
      }),
      { numRuns: 10_000 },
    ))
})

describe('the dates of a dispute', () => {
  test.each([
    ['2026-01-31T10:00:00.000Z', 'unauthorized', '2027-02-28'],
    ['2026-11-22T10:00:00.000Z', 'fraud', '2027-12-22'],
    ['2026-11-22T10:00:00.000Z', 'not_received', '2027-03-22'],
  ] as const)('a debit of %s as %s can be disputed until %s', (debited, reason, until) => {
    expect(disputableUntil(new Date(debited), reason).toISOString()).toMatch(until)
  })

  test.each([
    ['a Monday', '2026-11-23T09:00:00Z', '2026-11-24T15:00:00.000Z'],
    ['a Friday', '2026-11-27T09:00:00Z', '2026-11-30T15:00:00.000Z'],
    ['Maundy Thursday', '2027-03-25T09:00:00Z', '2027-03-30T14:00:00.000Z'],
  ])('what was said on %s is given back by the end of the next business day', (_, said, due) => {
    expect(creditDueAfter(new Date(said)).toISOString()).toBe(due)
  })
})
