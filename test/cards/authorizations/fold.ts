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

/** What a bookkeeper says who reads the same messages in the order in which they were sent, once each. */
interface Told {
  readonly asks?: { readonly ask: number; readonly approved: number }
  readonly outcome?: readonly number[]
  readonly clearing?: { readonly id: string; readonly amount: number; readonly final: boolean }
  readonly reversal?: { readonly id: string; readonly amount: number | null }
  readonly refund?: { readonly id: string; readonly amount: number }
  readonly expired?: true
}

const stepOf =
  ({ asks, outcome, clearing, reversal, refund, expired }: Told): Step =>
  facts => {
    if (asks)
      return withAsk(facts, { ask: asks.ask, asked: String(asks.approved), approved: String(asks.approved) })
    if (outcome)
      return withOutcome(
        facts,
        outcome.map(amount => ({ amount: String(amount || 1), approved: amount > 0 })),
      )
    if (clearing)
      return {
        ...facts,
        clearings: withClearing(facts.clearings, { ...clearing, amount: String(clearing.amount) }),
      }
    if (refund)
      return { ...facts, refunds: withFact(facts.refunds, { id: refund.id, amount: String(refund.amount) }) }
    if (!reversal) return { ...facts, expired: facts.expired || expired === true }
    const amount = reversal.amount === null ? null : String(reversal.amount)
    return { ...facts, reversals: withFact(facts.reversals, { id: reversal.id, amount }) }
  }

function expectedOf(messages: readonly Told[]) {
  const approved = new Map<number, number>()
  let [cleared, reversed, refunded, isOver, isWhole] = [0, 0, 0, false, false]
  for (const { asks, outcome = [], clearing, reversal, refund, expired } of messages) {
    if (asks) approved.set(asks.ask, asks.approved)
    for (const [ask, amount] of outcome.entries()) approved.set(ask, amount)
    cleared += clearing?.amount ?? 0
    reversed += reversal?.amount ?? 0
    refunded += refund?.amount ?? 0
    isWhole ||= reversal?.amount === null
    isOver ||= clearing?.final === true || expired === true
  }
  const all = [...approved.values()].reduce((total, amount) => total + amount, 0)
  const isReversed = isWhole || (all > 0 && reversed >= all)
  return {
    approvedEuros: BigInt(all),
    heldEuros: BigInt(isOver || isReversed ? 0 : Math.max(0, all - reversed - cleared)),
    clearedEuros: BigInt(cleared),
    capturedEuros: BigInt(cleared),
    refundedEuros: BigInt(refunded),
    isOver: isOver || isReversed,
    isReversed,
  }
}

const amounts = fc.integer({ min: 1, max: 5_000 })

/** All messages of one payment in their natural order: what the processor says of a request comes after our answer. */
const payment: fc.Arbitrary<Told[]> = fc
  .record({
    approved: fc.array(fc.oneof(amounts, fc.constant(0)), { maxLength: 3 }),
    outcome: fc.array(fc.oneof(amounts, fc.constant(0)), { maxLength: 4 }),
    clearings: fc.array(fc.tuple(amounts, fc.boolean()), { maxLength: 3 }),
    reversals: fc.array(fc.option(amounts), { maxLength: 2 }),
    refunds: fc.array(amounts, { maxLength: 2 }),
    isExpired: fc.boolean(),
  })
  .map(({ approved, outcome, clearings, reversals, refunds, isExpired }): Told[] => [
    ...approved.map((amount, ask) => ({ asks: { ask, approved: amount } })),
    ...outcome.map((_, n) => ({ outcome: outcome.slice(0, n + 1) })),
    ...clearings.map(([amount, final], n) => ({ clearing: { id: `clearing ${n}`, amount, final } })),
    ...reversals.map((amount, n) => ({ reversal: { id: `reversal ${n}`, amount } })),
    ...refunds.map((amount, n) => ({ refund: { id: `refund ${n}`, amount } })),
    ...(isExpired ? [{ expired: true as const }] : []),
  ])

/** In any order, some of them again. A few runs of the same go through HTTP: `any-order.ts`. */
const received = payment.chain(all =>
  fc.record({
    all: fc.constant(all),
    order: fc.shuffledSubarray(all, { minLength: all.length }),
    again: fc.subarray(all),
  }),
)

const MANY = { numRuns: 2_000 }

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

  test('is what a bookkeeper says of the messages, in ten thousand orders', () => {
    fc.assert(
      fc.property(received, ({ all, order, again }) => {
        const facts = run([...order, ...again].map(stepOf))
        expect(standingOf(facts)).toMatchObject(expectedOf(all))
      }),
      { numRuns: 10_000 },
    )
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
      MANY,
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
      MANY,
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
      MANY,
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
      MANY,
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
      MANY,
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
      MANY,
    )
  })
})
