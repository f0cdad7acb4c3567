import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  compileMandateConstraints,
  type MandateConstraints,
  type MandateCounters,
  type MandatedSpend,
  outsideMandateReason,
} from '../../../src/control/mandates/constraints.ts'
import { type Cents, cents, NO_CENTS, sumOf } from '../../../src/values/money.ts'

const anything: MandateConstraints = {
  perTransactionCents: null,
  perDayCents: null,
  perMonthCents: null,
  totalCents: null,
  count: null,
  merchants: [],
  mccs: [],
  countries: [],
}

const unused: MandateCounters = { dayCents: NO_CENTS, monthCents: NO_CENTS, totalCents: NO_CENTS, uses: 0 }
const spend: MandatedSpend = { amountCents: cents(2_000n), merchant: 'Bookshop', mcc: '5942', country: 'DE' }

const why = (
  constraints: Partial<MandateConstraints>,
  members: Partial<MandatedSpend> = {},
  used: Partial<MandateCounters> = {},
) =>
  outsideMandateReason(
    compileMandateConstraints({ ...anything, ...constraints }),
    { ...spend, ...members },
    { ...unused, ...used },
  )

const IBAN = 'DE89370400440532013000'

describe('a spend is inside a mandate', () => {
  test.each<[Partial<MandateConstraints>, Partial<MandatedSpend>, Partial<MandateCounters>]>([
    [{ perTransactionCents: cents(2_000n) }, {}, {}],
    [{ perDayCents: cents(7_000n) }, {}, { dayCents: cents(5_000n), monthCents: cents(90_000n) }],
    [{ perMonthCents: cents(7_000n) }, {}, { monthCents: cents(5_000n), totalCents: cents(90_000n) }],
    [{ totalCents: cents(7_000n) }, {}, { totalCents: cents(5_000n) }],
    [{ count: 3 }, {}, { uses: 2 }],
    [{ merchants: ['Library', 'BOOKSHOP'] }, {}, {}],
    [{ merchants: ['bookshop.example'] }, { merchant: 'https://bookshop.example/books' }, {}],
    [{ merchants: ['*.example.com'] }, { merchant: 'shop.example.com' }, {}],
    [{ merchants: ['Bookshop'] }, { merchant: 'SQ *BOOKSHOP' }, {}],
    [{ merchants: [IBAN] }, { payeeIban: IBAN }, {}],
    [{ mccs: ['5942'], countries: ['DE'] }, {}, {}],
  ])('by %j', (constraints, members, used) => {
    expect(why(constraints, members, used)).toBeUndefined()
  })
})

describe('a spend is outside a mandate that', () => {
  test.each<[string, Partial<MandateConstraints>, Partial<MandatedSpend>, Partial<MandateCounters>]>([
    ['allows € 19.99 for one payment', { perTransactionCents: cents(1_999n) }, {}, {}],
    ['has € 19.99 left today', { perDayCents: cents(7_000n) }, {}, { dayCents: cents(5_001n) }],
    ['has € 19.99 left this month', { perMonthCents: cents(7_000n) }, {}, { monthCents: cents(5_001n) }],
    ['has € 0.00 left in all', { totalCents: cents(7_000n) }, {}, { totalCents: cents(7_001n) }],
    ['has no payment left', { count: 3 }, {}, { uses: 3 }],
    ['does not allow Bookshop', { merchants: ['Library'] }, {}, {}],
    ['does not allow example.com', { merchants: ['*.example.com'] }, { merchant: 'example.com' }, {}],
    ['does not allow Bооkshop', { merchants: ['Bookshop'] }, { merchant: 'Bооkshop' }, {}],
    ['does not allow DE89370400440532013000', { merchants: [IBAN] }, { merchant: IBAN }, {}],
    ['does not allow the merchant category 5942', { mccs: ['5943'] }, {}, {}],
    ['requires mcc, the merchant category', { mccs: ['5942'] }, { mcc: null }, {}],
    ['does not allow merchants in DE', { countries: ['FR'] }, {}, {}],
    ['requires country, the merchant’s country', { countries: ['DE'] }, { country: null }, {}],
  ])('%s', (reason, constraints, members, used) => {
    expect(why(constraints, members, used)).toBe(reason)
  })
})

const amount = fc.bigInt({ min: 1n, max: 60n }).map(cents)
const limit = fc.option(fc.bigInt({ min: 1n, max: 200n }).map(cents), { nil: null })
/** Mostly without a list; otherwise hardly any spend would be inside. */
const someOf = (values: string[]): fc.Arbitrary<string[]> =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<string[]>([]) }, fc.subarray(values))

const anyConstraints: fc.Arbitrary<MandateConstraints> = fc.record({
  perTransactionCents: limit,
  perDayCents: limit,
  perMonthCents: limit,
  totalCents: limit,
  count: fc.option(fc.integer({ min: 1, max: 6 }), { nil: null }),
  merchants: someOf(['Bookshop', 'Library']),
  mccs: someOf(['5942', '7372']),
  countries: someOf(['DE', 'FR']),
})

const anySpend = fc.record({
  amountCents: amount,
  merchant: fc.constantFrom('bookshop', 'LIBRARY', 'Casino'),
  mcc: fc.constantFrom(null, '5942', '7372', '7995'),
  country: fc.constantFrom(null, 'DE', 'FR', 'US'),
  /** Days after the first one: the last ones are in the next month. */
  day: fc.integer({ min: 28, max: 33 }),
})

type Spend = MandatedSpend & { readonly day: number }

const monthOf = (day: number): number => Math.floor((day - 1) / 31)
const sum = (spends: readonly Spend[]): Cents => sumOf(spends.map(({ amountCents }) => amountCents))
const isOneOf = (list: readonly string[], value: string | null): boolean =>
  list.length === 0 || (value !== null && list.some(one => one.toLowerCase() === value.toLowerCase()))

/** Written independently of the code under test: whether the mandate allows a list of spends as a whole. */
function isAllowed(constraints: MandateConstraints, spends: readonly Spend[]): boolean {
  const within = (most: Cents | null, groups: Iterable<readonly Spend[]>): boolean =>
    most === null || [...groups].every(group => sum(group) <= most)
  return (
    within(
      constraints.perTransactionCents,
      spends.map(spend => [spend]),
    ) &&
    within(constraints.perDayCents, Map.groupBy(spends, ({ day }) => day).values()) &&
    within(constraints.perMonthCents, Map.groupBy(spends, ({ day }) => monthOf(day)).values()) &&
    within(constraints.totalCents, [spends]) &&
    (constraints.count === null || spends.length <= constraints.count) &&
    spends.every(
      ({ merchant, mcc, country }) =>
        isOneOf(constraints.merchants, merchant) &&
        isOneOf(constraints.mccs, mcc) &&
        isOneOf(constraints.countries, country),
    )
  )
}

const usedBy = (spends: readonly Spend[], day: number): MandateCounters => ({
  dayCents: sum(spends.filter(spend => spend.day === day)),
  monthCents: sum(spends.filter(spend => monthOf(spend.day) === monthOf(day))),
  totalCents: sum(spends),
  uses: spends.length,
})

describe('any spends in any order', () => {
  test('a spend is inside exactly if the mandate allows it together with the earlier ones', () => {
    let inside = 0
    let outside = 0
    fc.assert(
      fc.property(anyConstraints, fc.array(anySpend, { maxLength: 15 }), (constraints, asked) => {
        const compiled = compileMandateConstraints(constraints)
        const taken: Spend[] = []
        for (const spend of asked.toSorted((one, other) => one.day - other.day)) {
          const reason = outsideMandateReason(compiled, spend, usedBy(taken, spend.day))
          expect(reason === undefined).toBe(isAllowed(constraints, [...taken, spend]))
          if (reason !== undefined) outside++
          else {
            taken.push(spend)
            inside++
          }
        }
        expect(isAllowed(constraints, taken)).toBe(true)
      }),
      { numRuns: 500 },
    )
    expect(Math.min(inside, outside)).toBeGreaterThan(200)
  })
})
