import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { disputeDeadline, provisionalCreditDueAt } from '../../../src/commerce/disputes/dispute.ts'
import {
  type DisputeClaimState,
  type DisputeFact,
  diffDisputeAmounts,
  foldDisputeFacts,
} from '../../../src/commerce/disputes/state.ts'
import { cents as centsOf, subtractCents } from '../../../src/values/money.ts'

const type = fc.constantFrom<DisputeFact['type']>('credited', 'won', 'lost')
const at = fc.integer({ min: 1, max: 30 }).map(day => new Date(Date.UTC(2026, 10, day)).toISOString())
const cents = fc.option(fc.integer({ min: 1, max: 12_000 }).map(String))

const facts: fc.Arbitrary<DisputeFact[]> = fc
  .tuple(
    fc.array(fc.record({ type, at, cents }), { maxLength: 6 }),
    fc.option(fc.record({ type: fc.constantFrom<DisputeFact['type']>('withdrawn', 'lapsed'), at })),
  )
  .map(([network, own]) => [
    ...network.map((fact, index) => ({ ...fact, id: `fact_${index}` })),
    ...(own ? [{ ...own, id: 'own', cents: null }] : []),
  ])

const claim: fc.Arbitrary<DisputeClaimState> = fc.record({
  isSubmitted: fc.boolean(),
  leftCents: fc.bigInt({ min: 0n, max: 10_000n }).map(centsOf),
  isCovered: fc.boolean(),
  isCreditDue: fc.boolean(),
})

describe('the state of a dispute', () => {
  test('depends on the facts, not on the order in which they arrived', () =>
    fc.assert(
      fc.property(facts, claim, fc.infiniteStream(fc.nat()), (given, terms, random) => {
        const shuffled = given
          .map(fact => ({ fact, key: random.next().value ?? 0 }))
          .sort((one, other) => one.key - other.key)
          .map(({ fact }) => fact)
        expect(foldDisputeFacts(shuffled, terms)).toEqual(foldDisputeFacts(given, terms))
      }),
      { numRuns: 10_000 },
    ))

  test('never credits more than is left of the payment, nor books a loss that the platform has not', () =>
    fc.assert(
      fc.property(facts, claim, (given, terms) => {
        const { creditedCents, recoveredCents, lostCents, status } = foldDisputeFacts(given, terms)
        expect(creditedCents).toBeLessThanOrEqual(terms.leftCents)
        expect(lostCents).toBeLessThanOrEqual(creditedCents)
        if (!terms.isCovered || status === 'open' || status === 'submitted') expect(lostCents).toBe(0n)
        if (!terms.isCovered) expect(creditedCents).toBeLessThanOrEqual(recoveredCents)
        if (lostCents > 0n) expect(subtractCents(creditedCents, recoveredCents)).toBe(lostCents)
      }),
      { numRuns: 10_000 },
    ))

  test('moves nothing once it is booked, and back exactly what it has moved', () =>
    fc.assert(
      fc.property(facts, facts, claim, (earlier, later, terms) => {
        const [before, after] = [foldDisputeFacts(earlier, terms), foldDisputeFacts(later, terms)]
        expect(Object.values(diffDisputeAmounts(after, after))).toEqual([0n, 0n, 0n, 0n])
        const [forth, back] = [diffDisputeAmounts(before, after), diffDisputeAmounts(after, before)].map(
          diff => Object.values(diff),
        )
        expect(forth?.map((moved, index) => moved + (back?.[index] ?? 0n))).toEqual([0n, 0n, 0n, 0n])
      }),
    ))
})

describe('the dates of a dispute', () => {
  test.each([
    ['2026-01-31T10:00:00.000Z', 'unauthorized', '2027-02-28'],
    ['2026-11-22T10:00:00.000Z', 'fraud', '2027-12-22'],
    ['2026-11-22T10:00:00.000Z', 'not_received', '2027-03-22'],
  ] as const)('a debit of %s as %s can be disputed until %s', (debited, reason, until) => {
    expect(disputeDeadline(new Date(debited), reason).toISOString()).toMatch(until)
  })

  test.each([
    ['a Monday', '2026-11-23T09:00:00Z', '2026-11-24T15:00:00.000Z'],
    ['a Friday', '2026-11-27T09:00:00Z', '2026-11-30T15:00:00.000Z'],
    ['Maundy Thursday', '2027-03-25T09:00:00Z', '2027-03-30T14:00:00.000Z'],
  ])('what was said on %s is given back by the end of the next business day', (_, said, due) => {
    expect(provisionalCreditDueAt(new Date(said)).toISOString()).toBe(due)
  })
})
