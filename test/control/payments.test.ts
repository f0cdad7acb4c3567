import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { limitUsageOf, netSpentCents } from '../../src/control/payments/diff.ts'
import {
  addPaymentFact,
  collectPaymentFacts,
  noPaymentFacts,
  type PaymentFact,
} from '../../src/control/payments/facts.ts'
import { foldPaymentFacts, splitByApproval } from '../../src/control/payments/state.ts'
import { type Cents, cents } from '../../src/values/money.ts'

type FactOf<T extends PaymentFact['type']> = Extract<PaymentFact, { type: T }>

const amounts = fc.integer({ min: 1, max: 5_000 }).map(amount => cents(amount))
const maybeZero = fc.integer({ min: -1_000, max: 5_000 }).map(amount => cents(Math.max(amount, 0)))

const request = (increment: number, approvedCents: Cents): PaymentFact => ({
  type: 'authorized',
  increment,
  requestedCents: approvedCents || cents(100n),
  approvedCents,
})

/** The network repeats its earlier answers with each new one. */
const accounts = (answers: readonly Cents[]): PaymentFact[] =>
  answers.map((_, last) => ({
    type: 'answered',
    answers: answers
      .slice(0, last + 1)
      .map(amount => ({ cents: amount || cents(1n), approved: amount > 0n })),
  }))

/** All facts of one payment, in the order in which they happened. */
const history: fc.Arbitrary<PaymentFact[]> = fc
  .record({
    requested: fc.option(amounts),
    approved: fc.array(maybeZero, { maxLength: 3 }),
    answers: fc.array(maybeZero, { maxLength: 4 }),
    captured: fc.option(amounts, { freq: 2 }),
    clearings: fc.array(fc.tuple(amounts, fc.boolean()), { maxLength: 3 }),
    reversals: fc.array(fc.option(amounts), { maxLength: 2 }),
    refunds: fc.array(amounts, { maxLength: 2 }),
    credits: fc.array(amounts, { maxLength: 2 }),
    ends: fc.subarray(['expired', 'not_paid'] as const),
  })
  .map(({ requested, approved, answers, captured, clearings, reversals, refunds, credits, ends }) => [
    ...(requested === null ? [] : [{ type: 'requested', cents: requested } as const]),
    ...approved.map((cents, increment) => request(increment, cents)),
    ...accounts(answers),
    ...(captured === null ? [] : [{ type: 'captured', cents: captured } as const]),
    ...clearings.map(([cents, final], n) => ({ type: 'cleared', id: `c${n}`, cents, final }) as const),
    ...reversals.map((cents, n) => ({ type: 'reversed', id: `r${n}`, cents }) as const),
    ...refunds.map((cents, n) => ({ type: 'refunded', id: `f${n}`, cents }) as const),
    ...credits.map((cents, n) => ({ type: 'credited', id: `d${n}`, cents }) as const),
    ...ends.map(type => ({ type })),
  ])

/** The facts of one payment in any order, some of them repeated. */
const received = history.chain(facts =>
  fc.record({
    facts: fc.constant(facts),
    order: fc.shuffledSubarray(facts, { minLength: facts.length }),
    repeated: fc.subarray(facts),
  }),
)

/** The accounts of a bookkeeper who reads each fact once, in the order in which they happened, with plain numbers. */
class Bookkeeper {
  readonly #facts: readonly PaymentFact[]

  constructor(facts: readonly PaymentFact[]) {
    this.#facts = facts
  }

  #of<T extends PaymentFact['type']>(type: T): FactOf<T>[] {
    return this.#facts.filter((fact): fact is FactOf<T> => fact.type === type)
  }

  #sum(type: 'cleared' | 'refunded' | 'credited' | 'reversed' | 'requested'): number {
    return this.#of(type).reduce((sum, { cents }) => sum + Number(cents ?? 0), 0)
  }

  #approved(): number {
    const approved = new Map<number, number>()
    for (const { increment, approvedCents } of this.#of('authorized'))
      approved.set(increment, Number(approvedCents))
    for (const { answers } of this.#of('answered'))
      for (const [n, one] of answers.entries()) approved.set(n, one.approved ? Number(one.cents) : 0)
    return [...approved.values()].reduce((sum, cents) => sum + cents, 0)
  }

  read() {
    const approved = this.#approved()
    const cleared = this.#sum('cleared')
    const [capture] = this.#of('captured')
    const isWhole = this.#of('reversed').some(({ cents }) => cents === null)
    const reversed = this.#sum('reversed')
    const isReversed = isWhole || (approved > 0 && reversed >= approved)
    const isNotPaid = this.#of('not_paid').length > 0 && !capture && approved === 0
    const isLast = this.#of('cleared').some(({ final }) => final)
    const isClosed = isLast || isReversed || isNotPaid || this.#of('expired').length > 0
    const stated = capture && !isClosed ? Number(capture.cents) : 0
    const captured = Math.max(stated, cleared)
    const isHeard = this.#of('authorized').length + this.#of('answered').length > 0 || capture !== undefined
    return {
      approvedCents: BigInt(approved),
      capturedCents: BigInt(captured),
      clearedCents: BigInt(cleared),
      heldCents: BigInt(isClosed ? 0 : Math.max(0, approved - reversed - captured)),
      pendingCents: BigInt(isClosed || isHeard ? 0 : Math.max(0, this.#sum('requested') - cleared)),
      refundedCents: BigInt(this.#sum('refunded')),
      creditedCents: BigInt(this.#sum('credited')),
      isClosed,
      isReversed,
      isNotPaid,
    }
  }
}

const SOME = { numRuns: 2_000 }
const total = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((sum, item) => sum + of(item), 0n)

describe('the state of a payment', () => {
  test('is what a bookkeeper reads from the same facts, in 100,000 orders with repetitions', () => {
    const { counterexample } = fc.check(
      fc.property(received, ({ facts, order, repeated }) => {
        const state = new Map(Object.entries(foldPaymentFacts(collectPaymentFacts([...order, ...repeated]))))
        return Object.entries(new Bookkeeper(facts).read()).every(
          ([name, value]) => state.get(name) === value,
        )
      }),
      { numRuns: 100_000 },
    )
    // An `expect` for each order would take minutes.
    expect(counterexample).toBeNull()
  })

  test.each([
    [false, true],
    [true, false],
  ])(
    'is closed once one of two messages about a clearing states that it is final: %s, then %s',
    (...finals) => {
      const clearings = finals.map(
        final => ({ type: 'cleared', id: 'one', cents: cents(700n), final }) as const,
      )
      const state = foldPaymentFacts(collectPaymentFacts([request(0, cents(1_000n)), ...clearings]))
      expect(state).toMatchObject({ clearedCents: 700n, heldCents: 0n, isClosed: true })
    },
  )

  test('has the merchant’s amount as it was cleared, in any order of the facts', () => {
    const dollars = (amount: string) => ({ amount, currency: 'USD' })
    const facts: readonly PaymentFact[] = [
      { type: 'requested', cents: cents(1_142n), original: dollars('12.00') },
      { ...request(0, cents(1_130n)), original: dollars('12.00') } as PaymentFact,
      { type: 'cleared', id: 'one', cents: cents(500n), final: false, original: dollars('5.25') },
      { type: 'cleared', id: 'two', cents: cents(640n), final: true, original: dollars('6.80') },
      { type: 'refunded', id: 'back', cents: cents(500n), original: dollars('5.25') },
    ]
    const originals = (count: number, order: (facts: readonly PaymentFact[]) => readonly PaymentFact[]) => {
      const { original, refundedOriginal } = foldPaymentFacts(
        collectPaymentFacts(order(facts.slice(0, count))),
      )
      return [original?.amount, refundedOriginal?.amount]
    }
    for (const order of [
      (same: readonly PaymentFact[]) => same,
      (same: readonly PaymentFact[]) => same.toReversed(),
    ]) {
      expect(originals(1, order)).toEqual(['12.00', undefined])
      expect(originals(2, order)).toEqual(['12.00', undefined])
      expect(originals(4, order)).toEqual(['12.05', undefined])
      expect(originals(5, order)).toEqual(['12.05', '5.25'])
    }
  })

  test('has no amount of the merchant where clearings are in several currencies, or in euros', () => {
    const cleared = (id: string, currency?: string): PaymentFact => ({
      type: 'cleared',
      id,
      cents: cents(500n),
      final: false,
      original: currency === undefined ? undefined : { amount: '5.00', currency },
    })
    expect(
      foldPaymentFacts(collectPaymentFacts([cleared('a', 'USD'), cleared('b', 'GBP')])).original,
    ).toBeNull()
    expect(foldPaymentFacts(collectPaymentFacts([cleared('a'), cleared('b', 'USD')])).original).toBeNull()
  })

  test('counts only the first of two captures, and only the last credit of a dispute', () => {
    const state = foldPaymentFacts(
      collectPaymentFacts([
        { type: 'captured', cents: cents(500n) },
        { type: 'captured', cents: cents(900n) },
        { type: 'credited', id: 'one', cents: cents(500n) },
        { type: 'credited', id: 'one', cents: cents(200n) },
      ]),
    )
    expect([state.capturedCents, netSpentCents(state)]).toEqual([500n, 300n])
  })

  test('holds nothing for an answer that came too late, by the network’s account', () => {
    const declined = { cents: cents(1_000n), approved: false }
    const facts = collectPaymentFacts([request(0, cents(1_000n)), { type: 'answered', answers: [declined] }])
    expect(foldPaymentFacts(facts)).toMatchObject({
      approvedCents: 0n,
      heldCents: 0n,
      requestedCents: 1_000n,
    })
  })

  test('no fact ever grows a hold', () => {
    fc.assert(
      fc.property(received, ({ facts, order }) => {
        // The network may approve what the service declined: a hold that has ended stays ended. Requests
        // arrive in order.
        const isRequest = ({ type }: PaymentFact): boolean => type === 'authorized'
        const others = order.filter(fact => !isRequest(fact) && fact.type !== 'answered')
        const sent = [...facts.filter(isRequest), ...others]
        const held = new Map<number, bigint>()
        let known = noPaymentFacts
        for (const fact of sent) {
          known = addPaymentFact(known, fact)
          for (const { increment, heldCents } of splitByApproval(foldPaymentFacts(known))) {
            expect(heldCents).toBeLessThanOrEqual(held.get(increment) ?? heldCents)
            held.set(increment, heldCents)
          }
        }
      }),
      SOME,
    )
  })

  test('divides what is held and captured among the approvals', () => {
    fc.assert(
      fc.property(history, facts => {
        const state = foldPaymentFacts(collectPaymentFacts(facts))
        const shares = splitByApproval(state)
        const { heldCents, capturedCents, approvedCents } = state
        expect(total(shares, share => share.heldCents)).toBe(heldCents)
        const captured = capturedCents < approvedCents ? capturedCents : approvedCents
        expect(total(shares, share => share.capturedCents)).toBe(captured)
      }),
      SOME,
    )
  })

  test('counts all that is spent towards the limits, and at most one use', () => {
    fc.assert(
      fc.property(history, fc.boolean(), (facts, hasIntent) => {
        const state = foldPaymentFacts(collectPaymentFacts(facts))
        const usage = limitUsageOf(state, hasIntent)
        expect(total(usage, ({ spentCents }) => spentCents)).toBe(netSpentCents(state))
        expect(total(usage, ({ capturedCents }) => capturedCents)).toBe(state.capturedCents)
        const uses = usage.filter(({ isUse, amountCents }) => isUse && amountCents > 0n)
        expect(uses.length).toBeLessThanOrEqual(hasIntent ? 0 : 1)
      }),
      SOME,
    )
  })
})
