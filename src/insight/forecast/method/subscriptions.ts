import { CHARGE_INTERVALS, nextChargeDateAfter } from '../../analytics/index.ts'
import { type DailySpend, dateOfDay, dayNumber, type SubscriptionCharges } from './days.ts'

export interface ExpectedCharge {
  readonly day: number
  readonly cents: number
}

const FARTHEST = 100

function expectedAfter({ every, days }: SubscriptionCharges, place: number): number[] {
  const next = nextChargeDateAfter({ every, days: days.slice(0, place + 1).map(dateOfDay) })
  const last = days[place] as number
  const expected: number[] = []
  for (let day = last; day < last + FARTHEST; expected.push(day)) day = dayNumber(next(dateOfDay(day)))
  return expected
}

/** A subscription as it was known on any past day. It counts from the charge that completed the minimum number. */
export function subscriptionHistory(subscription: SubscriptionCharges) {
  const { every, days, cents, brokenOn } = subscription
  const { times, most } = CHARGE_INTERVALS[every]
  const known = new Map<number, readonly number[]>()
  let passed = -1
  const lastBefore = (end: number): number => {
    if (passed >= 0 && (days[passed] as number) >= end) passed = -1
    while (passed + 1 < days.length && (days[passed + 1] as number) < end) passed++
    return passed
  }
  /** Predictions made before `end`; a late charge keeps its earlier day. */
  const expectedBy = (from: number, end: number): { after: readonly number[]; each: number } | undefined => {
    const place = lastBefore(end)
    const isOver = brokenOn !== null && brokenOn < end
    if (place + 1 < times || isOver || from - (days[place] as number) > most + 1) return undefined
    const after = known.get(place) ?? expectedAfter(subscription, place)
    known.set(place, after)
    return { after, each: cents[place] as number }
  }
  return {
    /** The charges before a day, if they were a known subscription by then, without the first `without` ones. */
    chargesBefore: (end: number, without = 0): ExpectedCharge[] => {
      const place = lastBefore(end)
      if (place + 1 < times) return []
      return days.slice(without, place + 1).map((day, n) => ({ day, cents: cents[without + n] as number }))
    },
    /**
     * Predicted charges from the day `from` on, made before `end`. A late charge is expected each day until
     * it is too late for the rhythm.
     */
    expectedFrom(from: number, end: number): ExpectedCharge[] {
      const expected = expectedBy(from, end)
      return expected ? expected.after.map(day => ({ day: Math.max(day, from), cents: expected.each })) : []
    },
    expectedOn(day: number, end: number): number {
      const expected = expectedBy(end, end)
      if (!expected) return 0
      return expected.after.filter(one => Math.max(one, end) === day).length * expected.each
    },
  }
}

/** Spending without the subscriptions known before a day. Callers must ask for days in ascending order. */
export function removeSubscriptionCharges({ firstDay, cents, subscriptions = [] }: DailySpend) {
  const rest = [...cents]
  const all = subscriptions.map(one => ({ ...subscriptionHistory(one), takenOff: 0 }))
  const takeOff = ({ day, cents: charged }: ExpectedCharge): void => {
    const n = day - firstDay
    if (n >= 0 && n < rest.length) rest[n] = Math.max(0, (rest[n] as number) - charged)
  }
  return {
    before(end: number): DailySpend {
      for (const one of all) {
        const charges = one.chargesBefore(end, one.takenOff)
        charges.forEach(takeOff)
        one.takenOff += charges.length
      }
      return { firstDay, cents: rest }
    },
    expectedOn: (day: number, end: number): number =>
      all.reduce((sum, one) => sum + one.expectedOn(day, end), 0),
  }
}
