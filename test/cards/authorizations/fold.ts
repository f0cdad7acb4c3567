import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type Facts,
  noFacts,
  sharesOf,
  standingOf,
  withAsk,
  withClearing,
  withFact,
  withOutcome,
} from '../../../src/cards/authorizations/standing/facts.ts'

type Step = (facts: Facts) => Facts

const cents = fc.integer({ min: 1, max: 10_000 }).map(String)

/** What the processor tells under one id has one amount: two that are told with different ones have different ids. */
const named = (n: string, amount: string | null): string => `${n} of ${amount}`

/** Steps of one payment: each is what one message adds. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(cents, fc.boolean(), cents).map(
    ([n, final, amount]): Step =>
      facts => ({
        ...facts,
        clearings: withClearing(facts.clearings, { id: named(n, amount), amount, final }),
      }),
  ),
  fc.boolean().map(
    (final): Step =>
      facts => ({
        ...facts,
        clearings: withClearing(facts.clearings, { id: 'told twice', amount: '700', final }),
      }),
  ),
  fc.tuple(cents, fc.option(cents)).map(
    ([n, amount]): Step =>
      facts => ({ ...facts, reversals: withFact(facts.reversals, { id: named(n, amount), amount }) }),
  ),
  fc.tuple(cents, cents).map(
    ([n, amount]): Step =>
      facts => ({ ...facts, refunds: withFact(facts.refunds, { id: named(n, amount), amount }) }),
  ),
  fc.constant((facts: Facts) => ({ ...facts, expired: true })),
  fc.constant((facts: Facts) => ({ ...facts, notPaid: true as const })),
  cents.map(
    (amount): Step =>
      facts => ({ ...facts, confirmed: facts.confirmed ?? amount }),
  ),
)

const steps = fc
  .tuple(
    fc.array(fc.tuple(cents, fc.boolean()), { maxLength: 4 }),
    fc.array(anyStep, { maxLength: 6 }),
    fc.array(fc.record({ amount: cents, approved: fc.boolean() }), { maxLength: 3 }),
  )
  .map(([asks, others, history]): Step[] => [
    ...asks.map(
      ([asked, isApproved], ask): Step =>
        facts =>
          withAsk(facts, { ask, asked, approved: isApproved ? asked : '0' }),
    ),
    ...others,
    ...history.map(
      (_, n): Step =>
        facts =>
          withOutcome(facts, history.slice(0, n + 1)),
    ),
  ])

const run = (all: readonly Step[], first = noFacts): Facts => all.reduce((facts, step) => step(facts), first)

/** A machine payment is begun before anybody speaks of it, and for what its merchant asks. */
const begun = fc.option(cents).map(amount => (amount === null ? noFacts : { ...noFacts, begun: amount }))

/** A message that tells of the whole payment whether money moves. */
const isAnswer = ({ asks, outcome, confirmed }: Facts): boolean =>
  asks.length + outcome.length > 0 || confirmed !== null

describe('how a card payment stands', () => {
  test.each([
    [false, true],
    [true, false],
  ])('is over once one of two messages about a clearing says so: %s, then %s', (first, second) => {
    const told = (final: boolean) => ({ id: 'clearing', amount: '700', final })
    const clearings = withClearing(withClearing([], told(first)), told(second))
    const asks = [{ ask: 0, asked: '1000', approved: '1000' }]
    expect(standingOf({ ...noFacts, asks, clearings })).toMatchObject({
      clearedEuros: 700n,
      heldEuros: 0n,
      isOver: true,
    })
  })

  test('depends on the messages, not on their order or repetition', () => {
    fc.assert(
      fc.property(
        steps.chain(all =>
          fc.tuple(
            begun,
            fc.constant(all),
            fc.shuffledSubarray(all, { minLength: all.length }),
            fc.array(fc.nat({ max: Math.max(all.length - 1, 0) }), { maxLength: 5 }),
          ),
        ),
        ([first, all, shuffled, repeated]) => {
          const again = repeated.flatMap(n => shuffled[n] ?? [])
          // Of two confirmations the first counts: here each payment has the amount of its intent.
          const one = standingOf({ ...run(all, first), confirmed: null })
          const other = standingOf({ ...run([...shuffled, ...again], first), confirmed: null })
          expect(other).toEqual(one)
        },
      ),
    )
  })

  test('holds no more than was approved, and nothing once it is over', () => {
    fc.assert(
      fc.property(steps, all => {
        const standing = standingOf(run(all))
        expect(standing.heldEuros).toBeGreaterThanOrEqual(0n)
        expect(standing.heldEuros).toBeLessThanOrEqual(standing.approvedEuros)
        if (standing.isOver)
          expect([standing.heldEuros, standing.capturedEuros]).toEqual([0n, standing.clearedEuros])
      }),
    )
  })

  test('is pending for what is left of what was begun, exactly until somebody has said what became of it', () => {
    fc.assert(
      fc.property(begun, steps, (first, all) => {
        const facts = run(all, first)
        const { pendingEuros, isOver, clearedEuros } = standingOf(facts)
        const left = BigInt(first.begun ?? 0) - clearedEuros
        const isOpen = !isAnswer(facts) && !isOver && left > 0n
        expect(pendingEuros).toBe(isOpen ? left : 0n)
      }),
    )
  })

  test('takes a receipt or an approval of the network over a word that it was not paid', () => {
    fc.assert(
      fc.property(begun, steps, fc.option(cents), (first, all, receipt) => {
        const facts: Facts = { ...run(all, first), confirmed: receipt }
        const { notPaid: _, ...others } = facts
        const [told, untold] = [standingOf({ ...others, notPaid: true }), standingOf(others)]
        const isProven = receipt !== null || untold.approvedEuros > 0n
        if (isProven) expect(told).toEqual(untold)
        else expect(told).toMatchObject({ isNotPaid: true, heldEuros: 0n, pendingEuros: 0n })
        expect(told.clearedEuros).toBe(untold.clearedEuros)
      }),
    )
  })

  test('no hold ever grows, whatever comes next', () => {
    fc.assert(
      fc.property(steps, all => {
        // The processor may take back what we approved, and approve what we declined: a hold that has ended stays so.
        let facts = noFacts
        const held = new Map<number, bigint>()
        for (const step of all) {
          if (step(noFacts).outcome.length > 0) continue
          facts = step(facts)
          for (const { ask, held: now } of sharesOf(standingOf(facts))) {
            expect(now).toBeLessThanOrEqual(held.get(ask) ?? now)
            held.set(ask, now)
          }
        }
      }),
    )
  })

  test('its shares add up to what is held and captured', () => {
    fc.assert(
      fc.property(steps, all => {
        const standing = standingOf(run(all))
        const shares = sharesOf(standing)
        const sum = (of: (share: (typeof shares)[number]) => bigint) =>
          shares.reduce((total, share) => total + of(share), 0n)
        expect(sum(({ held }) => held)).toBe(standing.heldEuros)
        expect(sum(({ captured }) => captured)).toBe(
          standing.capturedEuros < standing.approvedEuros ? standing.capturedEuros : standing.approvedEuros,
        )
      }),
    )
  })
})
