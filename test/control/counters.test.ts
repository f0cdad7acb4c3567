import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Counter, dayOf, Tally } from '../../src/control/budgets/counters.ts'

const tenant = { ownerId: 'customer_1', mode: 'test' } as const
const TERM = new Date('2026-01-01T00:00:00.000Z')

const counter = (period: string): Counter => ({
  ...{ subject: 'agent_1', period, reserved: 0n, spent: 0n, reservedUses: 0, uses: 0 },
  ...{ term: TERM, lastSpendAt: null, firstMerchant: null, limit: null },
})

const PERIODS = ['all', 'day:2026-12-31', 'month:2026-12', 'day:2027-01-01', 'month:2027-01']

const tallyAt = (instant: string, counters: readonly Counter[]) =>
  new Tally(tenant, new Date(instant), counters, [])

const usedOf = (tally: Tally) => {
  const { dayEuros, monthEuros } = tally.countersOf('agent_1', TERM)
  return [dayEuros, monthEuros]
}

describe('the last instant of a month and the first of the next', () => {
  test.each([
    ['2026-12-31T23:59:59.999Z', '2026-12-31'],
    ['2027-01-01T00:00:00.000Z', '2027-01-01'],
  ])('%s is of %s', (instant, day) => {
    expect(dayOf(new Date(instant))).toBe(day)
  })

  test('do not see each other, and each gets back its own', () => {
    const counters = PERIODS.map(counter)
    const late = tallyAt('2026-12-31T23:59:59.999Z', counters)
    late.reserve({ type: 'intent', id: '1' }, ['agent_1'], 700n, TERM)
    const early = tallyAt('2027-01-01T00:00:00.000Z', counters)
    expect([usedOf(late), usedOf(early)]).toEqual([
      [700n, 700n],
      [0n, 0n],
    ])
    early.reserve({ type: 'intent', id: '2' }, ['agent_1'], 5n, TERM)
    late.spend({ type: 'intent', id: '1' }, 600n, 'Bookshop')
    late.giveBack({ type: 'intent', id: '1' })
    expect([usedOf(late), usedOf(early), early.usedOf('agent_1')]).toEqual([[600n, 600n], [5n, 5n], 605n])
  })
})

type Step = readonly ['reserve' | 'spend' | 'giveBack' | 'undo', cause: number, amount: bigint]

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom('reserve' as const, 'spend' as const, 'giveBack' as const, 'undo' as const),
    fc.integer({ min: 0, max: 4 }),
    fc.bigInt({ min: 1n, max: 100n }),
  ),
  { maxLength: 40 },
)

test('any order of steps is what a list of causes says, and nothing is below nothing', () => {
  fc.assert(
    fc.property(steps, course => {
      const counters = PERIODS.map(counter)
      const tally = tallyAt('2026-12-31T12:00:00.000Z', counters)
      const paper = new Map<number, { reserved: bigint; spent: bigint }>()
      for (const [kind, number, amount] of course) {
        const [cause, known] = [{ type: 'intent', id: String(number) }, paper.get(number)]
        if (kind === 'reserve' && !known) {
          tally.reserve(cause, ['agent_1'], amount, TERM)
          paper.set(number, { reserved: amount, spent: 0n })
        } else if (known && kind === 'spend') {
          tally.spend(cause, amount, 'Bookshop')
          known.reserved -= amount < known.reserved ? amount : known.reserved
          known.spent += amount
        } else if (known && kind === 'giveBack') {
          expect(tally.giveBack(cause)).toBe(known.reserved)
          known.reserved = 0n
        } else if (known && kind === 'undo' && amount <= known.spent) {
          tally.undo(cause, amount)
          known.spent -= amount
        }
      }
      const total = [...paper.values()].reduce((sum, { reserved, spent }) => sum + reserved + spent, 0n)
      for (const { period, reserved, spent, uses, reservedUses } of counters.slice(0, 3)) {
        expect([period, reserved + spent]).toEqual([period, total])
        expect(reserved >= 0n && spent >= 0n).toBe(true)
        if (period !== 'all') continue
        const known = [...paper.values()]
        expect(uses).toBe(known.filter(one => one.spent > 0n).length)
        expect(reservedUses).toBe(known.filter(one => one.spent === 0n && one.reserved > 0n).length)
      }
      expect(tally.countersOf('agent_1', null).uses).toBe(0)
    }),
    { numRuns: 500 },
  )
})
