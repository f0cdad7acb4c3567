import { deviationOf, MAX_DEVIATIONS, medianOf } from '../../../control/risk/index.ts'
import type { SpendSum } from '../../spend/index.ts'
import { type Anomaly, inEuros, rounded, scoreOf } from './anomaly.ts'

/** Fewer days say nothing about what is usual. */
const LEAST_DAYS = 14
const LEAST_DAYS_OF_MERCHANT = 8

interface FarDay {
  readonly sum: SpendSum
  readonly usualEuros: bigint
  readonly deviations: number
}

/** The days since `from` that lie far above the others on which something was spent. */
function farDays(days: readonly SpendSum[], from: string, least: number): FarDay[] {
  const paid = days.filter(({ spentEuros }) => spentEuros > 0n)
  if (paid.length < least) return []
  const amounts = paid.map(({ spentEuros }) => Number(spentEuros))
  const usual = medianOf(amounts)
  const deviation = deviationOf(amounts, usual)
  return paid
    .filter(({ day }) => day >= from)
    .map(sum => ({
      sum,
      usualEuros: BigInt(Math.round(usual)),
      deviations: rounded((Number(sum.spentEuros) - usual) / deviation),
    }))
    .filter(({ deviations }) => deviations > MAX_DEVIATIONS)
}

const membersOf = ({ sum: { agentId, day, spentEuros }, usualEuros, deviations }: FarDay) => ({
  agentId: agentId || null,
  day,
  figures: { amountEuros: spentEuros, usualEuros, deviations },
  score: scoreOf(deviations, MAX_DEVIATIONS),
})

/** Days on which an agent has spent far more than on its usual one. */
export const daysAboveUsual = (byAgent: Iterable<readonly SpendSum[]>, from: string): Anomaly[] =>
  [...byAgent].flatMap(days =>
    farDays(days, from, LEAST_DAYS).map(far => ({
      kind: 'day_above_usual' as const,
      merchant: null,
      ...membersOf(far),
      sentence: `${inEuros(far.sum.spentEuros)} were spent on ${far.sum.day}; on a usual day it is ${inEuros(far.usualEuros)}.`,
    })),
  )

/** Days on which an agent has paid a merchant far more than usual. */
export const merchantsAboveUsual = (byMerchant: Iterable<readonly SpendSum[]>, from: string): Anomaly[] =>
  [...byMerchant].flatMap(days =>
    farDays(days, from, LEAST_DAYS_OF_MERCHANT).map(far => ({
      kind: 'merchant_above_usual' as const,
      merchant: far.sum.value,
      ...membersOf(far),
      sentence: `${far.sum.value} got ${inEuros(far.sum.spentEuros)} on ${far.sum.day}; usually it is ${inEuros(far.usualEuros)} a day.`,
    })),
  )
