import { medianOf } from '../../../control/risk/index.ts'
import type { SpendSum } from '../../spend/index.ts'
import { rhythmOf } from '../rhythm.ts'
import { type Anomaly, inEuros, inPercent, rounded, scoreOf } from './anomaly.ts'

/** From one percent on: less is a matter of rounding and exchange rates. */
const LEAST_RISE = 0.01
const words = { week: 'weekly', month: 'monthly' } as const

/** Subscriptions whose last charge, in these days, is dearer than the one before. The days of each are in order. */
export function dearerSubscriptions(
  byMerchant: Iterable<readonly SpendSum[]>,
  { from, before }: { readonly from: string; readonly before: string },
): Anomaly[] {
  return [...byMerchant].flatMap(days => {
    const rhythm = rhythmOf(days, before)
    const [first] = days
    if (!rhythm || !first || rhythm.last < from) return []
    const { lastEuros, beforeEuros, every, times, last } = rhythm
    const rise = Number(lastEuros - beforeEuros) / Number(beforeEuros || 1n)
    if (rise < LEAST_RISE) return []
    return {
      kind: 'subscription_dearer' as const,
      agentId: first.agentId || null,
      merchant: first.value,
      day: last,
      sentence: `The ${words[every]} charge of ${first.value} has risen from ${inEuros(beforeEuros)} to ${inEuros(lastEuros)}, by ${inPercent(rise)}.`,
      figures: { amountEuros: lastEuros, usualEuros: beforeEuros, share: rounded(rise), times },
      score: scoreOf(rise, LEAST_RISE * 5),
    }
  })
}

/** So many days with a single charge tell what one costs. */
const LEAST_SINGLE = 2

/** Days with several charges where there is one as a rule, each as dear as that: the merchant may have charged twice. */
export function chargedTwice(byMerchant: Iterable<readonly SpendSum[]>, from: string): Anomaly[] {
  return [...byMerchant].flatMap(days => {
    const single = days.filter(({ payments }) => payments === 1)
    if (
      single.length < LEAST_SINGLE ||
      single.length * 2 < days.filter(({ payments }) => payments > 0).length
    )
      return []
    const usual = medianOf(single.map(({ spentEuros }) => Number(spentEuros)))
    const usualEuros = BigInt(Math.round(usual))
    return days
      .filter(
        ({ day, payments, spentEuros, refundedEuros }) =>
          day >= from &&
          payments > 1 &&
          usualEuros > 0n &&
          spentEuros === usualEuros * BigInt(payments) &&
          refundedEuros === 0n,
      )
      .map(({ agentId, value, day, payments, spentEuros }) => ({
        kind: 'charged_twice' as const,
        agentId: agentId || null,
        merchant: value,
        day,
        sentence: `${value} has charged ${inEuros(usualEuros)} ${payments} times on ${day}; it charges once a day as a rule.`,
        figures: { amountEuros: spentEuros, usualEuros, times: payments },
        score: 0.9,
      }))
  })
}
