import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { BudgetCounter } from '../../src/control/budgets/counter.ts'
import { BudgetCounters } from '../../src/control/budgets/counters.ts'
import { utcDay } from '../../src/values/clock.ts'
import { addCents, type Cents, cents, NO_CENTS, subtractCents } from '../../src/values/money.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const TERM = new Date('2026-01-01T00:00:00.000Z')

const newCounter = (period: string): BudgetCounter => ({
  subject: 'agent_1',
  period,
  reserved: NO_CENTS,
  spent: NO_CENTS,
  reservedUses: 0,
  uses: 0,
  term: TERM,
  lastSpendAt: null,
  firstMerchant: null,
  limit: null,
  mandate: null,
})

const PERIODS = ['all', 'day:2026-12-31', 'month:2026-12', 'day:2027-01-01', 'month:2027-01']

const countersAt = (instant: string, counters: readonly BudgetCounter[]) =>
  new BudgetCounters(tenant, new Date(instant), counters, [])

const usedIn = (counters: BudgetCounters) => {
  const { dayCents, monthCents } = counters.snapshotOf('agent_1', TERM)
  return [dayCents, monthCents]
}

describe('the last instant of a month and the first of the next', () => {
  test.each([
    ['2026-12-31T23:59:59.999Z', '2026-12-31'],
    ['2027-01-01T00:00:00.000Z', '2027-01-01'],
  ])('%s belongs to %s', (instant, day) => {
    expect(utcDay(new Date(instant))).toBe(day)
  })

  test('do not count each other, and each gets back its own', () => {
    const rows = PERIODS.map(newCounter)
    const late = countersAt('2026-12-31T23:59:59.999Z', rows)
    late.reserve({ type: 'intent', id: '1' }, ['agent_1'], cents(700n), TERM)
    const early = countersAt('2027-01-01T00:00:00.000Z', rows)
    expect([usedIn(late), usedIn(early)]).toEqual([
      [700n, 700n],
      [0n, 0n],
    ])
    early.reserve({ type: 'intent', id: '2' }, ['agent_1'], cents(5n), TERM)
    late.spend({ type: 'intent', id: '1' }, cents(600n), 'Bookshop')
    late.release({ type: 'intent', id: '1' })
    expect([usedIn(late), usedIn(early), early.totalUsed('agent_1')]).toEqual([[600n, 600n], [5n, 5n], 605n])
  })
})

type Step = readonly ['reserve' | 'spend' | 'release' | 'reverse', cause: number, amount: Cents]

const anySteps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom('reserve' as const, 'spend' as const, 'release' as const, 'reverse' as const),
    fc.integer({ min: 0, max: 4 }),
    fc.bigInt({ min: 1n, max: 100n }).map(cents),
  ),
  { maxLength: 40 },
)

test('after any steps in any order the counters are the sum of the reservations, and never below zero', () => {
  fc.assert(
    fc.property(anySteps, steps => {
      const rows = PERIODS.map(newCounter)
      const counters = countersAt('2026-12-31T12:00:00.000Z', rows)
      const expected = new Map<number, { reserved: Cents; spent: Cents }>()
      for (const [kind, number, amount] of steps) {
        const cause = { type: 'intent', id: String(number) }
        const reservation = expected.get(number)
        if (kind === 'reserve' && !reservation) {
          counters.reserve(cause, ['agent_1'], amount, TERM)
          expected.set(number, { reserved: amount, spent: NO_CENTS })
        } else if (reservation && kind === 'spend') {
          counters.spend(cause, amount, 'Bookshop')
          reservation.reserved = subtractCents(
            reservation.reserved,
            amount < reservation.reserved ? amount : reservation.reserved,
          )
          reservation.spent = addCents(reservation.spent, amount)
        } else if (reservation && kind === 'release') {
          expect(counters.release(cause)).toBe(reservation.reserved)
          reservation.reserved = NO_CENTS
        } else if (reservation && kind === 'reverse' && amount <= reservation.spent) {
          counters.giveBack(cause, amount)
          reservation.spent = subtractCents(reservation.spent, amount)
          counters.noteUse(cause, reservation.spent > 0n)
        }
      }
      const total = [...expected.values()].reduce((sum, { reserved, spent }) => sum + reserved + spent, 0n)
      for (const { period, reserved, spent, uses, reservedUses } of rows.slice(0, 3)) {
        expect([period, addCents(reserved, spent)]).toEqual([period, total])
        expect(reserved >= 0n && spent >= 0n).toBe(true)
        if (period !== 'all') continue
        const reservations = [...expected.values()]
        expect(uses).toBe(reservations.filter(({ spent }) => spent > 0n).length)
        expect(reservedUses).toBe(
          reservations.filter(({ spent, reserved }) => spent === 0n && reserved > 0n).length,
        )
      }
      expect(counters.snapshotOf('agent_1', null).uses).toBe(0)
    }),
    { numRuns: 500 },
  )
})
