import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  bookedFacts,
  collectPaymentFacts,
  evolve,
  type FactOf,
  type PaymentChange,
  type PaymentFact,
  paymentState,
  unknownPayment,
} from '../../src/control/payments/payment.ts'
import { type Cents, cents } from '../../src/values/money.ts'

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

/** The facts in one of many orders, about a third of them repeated. */
function inOrder(facts: readonly PaymentFact[], seed: number): PaymentFact[] {
  let state = seed
  const below = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
  const order = facts.flatMap(fact => (below(3) === 0 ? [fact, fact] : [fact]))
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(last + 1)
    const [one, two] = [order[last], order[other]] as [PaymentFact, PaymentFact]
    order[last] = two
    order[other] = one
  }
  return order
}

/** The change by the last of these facts, and all that each of them has posted. */
function evolveAll(facts: readonly PaymentFact[]) {
  const posted = { captured: 0n, settled: 0n, refunded: 0n, arrived: 0n, ofPayment: 0n }
  let payment = unknownPayment
  let change: PaymentChange | undefined
  for (const fact of facts) {
    change = evolve(payment, fact)
    const { money, refund } = change
    posted.captured += money.captureCents - money.undoCents
    posted.settled += money.settleCents
    posted.refunded += money.refundCents
    posted.arrived += refund.arrivedCents
    posted.ofPayment += refund.ofPaymentCents
    payment = bookedFacts(change.facts)
  }
  return { posted, change }
}

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
      spentCents: BigInt(Math.max(0, Math.max(0, captured - this.#sum('refunded')) - this.#sum('credited'))),
      isClosed,
      isReversed,
      isNotPaid,
    }
  }
}

const SOME = { numRuns: 2_000 }
const total = <T>(items: readonly T[], of: (item: T) => bigint): bigint =>
  items.reduce((sum, item) => sum + of(item), 0n)

const ORDERS_OF_EACH = 20

/** Whether these facts in this order come to what the bookkeeper read. */
function agrees(order: readonly PaymentFact[], read: ReturnType<Bookkeeper['read']>): boolean {
  const { posted, change } = evolveAll(order)
  if (!change) return true
  const after = new Map(Object.entries(change.after))
  const paid = total(change.limits, ({ capturedCents }) => capturedCents)
  const spent = total(change.limits, ({ spentCents }) => spentCents)
  const open = read.heldCents + read.pendingCents > 0n ? 'begin' : 'free'
  return (
    Object.entries(read).every(([name, value]) => after.get(name) === value) &&
    posted.captured === read.capturedCents &&
    posted.settled === read.clearedCents &&
    posted.refunded === read.refundedCents &&
    posted.arrived === read.refundedCents &&
    posted.ofPayment <= read.refundedCents &&
    change.refund.totalCents <= read.refundedCents &&
    paid === read.capturedCents &&
    spent === read.spentCents &&
    change.intentStep === (read.capturedCents > 0n ? 'complete' : open)
  )
}

describe('a payment', () => {
  test('evolves to what a bookkeeper reads from the same facts, in 100,000 orders with repetitions', () => {
    const seeds = Array.from({ length: ORDERS_OF_EACH }, (_, one) => one)
    const { counterexample } = fc.check(
      fc.property(history, fc.integer(), (facts, seed) => {
        const read = new Bookkeeper(facts).read()
        return seeds.every(one => agrees(inOrder(facts, seed + one), read))
      }),
      { numRuns: 100_000 / ORDERS_OF_EACH },
    )
    // An `expect` for each order would take minutes.
    expect(counterexample).toBeNull()
  })

  test('moves what is missing between the money that is posted and its state', () => {
    const expired = collectPaymentFacts([{ type: 'captured', cents: cents(500n) }, { type: 'expired' }])
    const posted = { ...unknownPayment, facts: expired, capturedCents: cents(500n) }
    const { money } = evolve(posted, { type: 'cleared', id: 'one', cents: cents(200n), final: true })
    expect(money).toMatchObject({ captureCents: 0n, undoCents: 300n, settleCents: 200n, refundCents: 0n })
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
      const state = paymentState(collectPaymentFacts([request(0, cents(1_000n)), ...clearings]))
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
      const { original, refundedOriginal } = paymentState(collectPaymentFacts(order(facts.slice(0, count))))
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
    expect(paymentState(collectPaymentFacts([cleared('a', 'USD'), cleared('b', 'GBP')])).original).toBeNull()
    expect(paymentState(collectPaymentFacts([cleared('a'), cleared('b', 'USD')])).original).toBeNull()
  })

  test('counts only the first of two captures, and only the last credit of a dispute', () => {
    const state = paymentState(
      collectPaymentFacts([
        { type: 'captured', cents: cents(500n) },
        { type: 'captured', cents: cents(900n) },
        { type: 'credited', id: 'one', cents: cents(500n) },
        { type: 'credited', id: 'one', cents: cents(200n) },
      ]),
    )
    expect([state.capturedCents, state.spentCents]).toEqual([500n, 300n])
  })

  test('holds nothing for an answer that came too late, by the network’s account', () => {
    const declined = { cents: cents(1_000n), approved: false }
    const facts = collectPaymentFacts([request(0, cents(1_000n)), { type: 'answered', answers: [declined] }])
    expect(paymentState(facts)).toMatchObject({
      approvedCents: 0n,
      heldCents: 0n,
      requestedCents: 1_000n,
    })
  })

  test('no fact ever grows a hold', () => {
    fc.assert(
      fc.property(history, fc.integer(), (facts, seed) => {
        // The network may approve what the service declined: a hold that has ended stays ended. Requests
        // arrive in order.
        const isRequest = ({ type }: PaymentFact): boolean => type === 'authorized'
        const others = inOrder(facts, seed).filter(fact => !isRequest(fact) && fact.type !== 'answered')
        const held = new Map<number, bigint>()
        let known = unknownPayment
        for (const fact of [...facts.filter(isRequest), ...others]) {
          const { money, facts } = evolve(known, fact)
          known = bookedFacts(facts)
          for (const { increment, heldCents } of money.shares) {
            expect(heldCents).toBeLessThanOrEqual(held.get(increment) ?? heldCents)
            held.set(increment, heldCents)
          }
        }
      }),
      SOME,
    )
  })

  const lastChange = fc
    .tuple(history, amounts)
    .map(([facts, cents]) =>
      evolve(bookedFacts(collectPaymentFacts(facts)), { type: 'credited', id: 'last', cents }),
    )

  test('divides what is held and captured among the approvals', () => {
    fc.assert(
      fc.property(lastChange, ({ after, money: { shares } }) => {
        const { heldCents, capturedCents, approvedCents } = after
        expect(total(shares, share => share.heldCents)).toBe(heldCents)
        const captured = capturedCents < approvedCents ? capturedCents : approvedCents
        expect(total(shares, share => share.capturedCents)).toBe(captured)
      }),
      SOME,
    )
  })

  test('counts all that is spent towards the limits, and at most one use', () => {
    fc.assert(
      fc.property(lastChange, ({ after, limits }) => {
        expect(total(limits, ({ spentCents }) => spentCents)).toBe(after.spentCents)
        expect(total(limits, ({ capturedCents }) => capturedCents)).toBe(after.capturedCents)
        const uses = limits.filter(({ isUse, amountCents }) => isUse && amountCents > 0n)
        expect(uses.length).toBeLessThanOrEqual(1)
      }),
      SOME,
    )
  })
})
