import type { SpendSum } from '../../spend/index.ts'
import { type Anomaly, inEuros, inPercent, rounded, scoreOf } from './anomaly.ts'

/** A share of what an agent spends from which on a new merchant is told of. */
const LARGE_SHARE = 0.2

const spentOf = (sums: readonly SpendSum[]): bigint =>
  sums.reduce((all, { spentEuros }) => all + spentEuros, 0n)

interface OfAgent {
  /** What the agent has spent in these days, and whether it had spent before. */
  readonly days: readonly SpendSum[]
  readonly merchants: readonly (readonly SpendSum[])[]
}

/** Merchants that an agent pays for the first time, and that get a large part of what it spends. */
export function newMerchants(agents: Iterable<OfAgent>, from: string): Anomaly[] {
  return [...agents].flatMap(({ days, merchants }) => {
    const wholeEuros = spentOf(days.filter(({ day }) => day >= from))
    const isNew = !days.some(({ day, payments }) => day < from && payments > 0)
    if (isNew || wholeEuros <= 0n) return []
    return merchants.flatMap(ofMerchant => {
      const paid = ofMerchant.filter(({ payments }) => payments > 0)
      const [first] = paid
      if (!first || first.day < from) return []
      const amountEuros = spentOf(paid)
      const share = Number(amountEuros) / Number(wholeEuros)
      if (share < LARGE_SHARE) return []
      return {
        kind: 'new_merchant' as const,
        agentId: first.agentId || null,
        merchant: first.value,
        day: first.day,
        sentence: `${first.value} was never paid before ${first.day}, and has got ${inEuros(amountEuros)} since: ${inPercent(share)} of what was spent.`,
        figures: { amountEuros, share: rounded(share) },
        score: scoreOf(share, LARGE_SHARE),
      }
    })
  })
}

/** From so much in runs on, what is outside of them is told of. */
const MOSTLY_IN_RUNS = 0.5

/** What an agent has spent outside of any run, although it mostly spends within them. */
export function outsideOfRuns(byAgent: Iterable<readonly SpendSum[]>, lastDay: string): Anomaly[] {
  return [...byAgent].flatMap(sums => {
    const outside = sums.filter(({ runId }) => runId === '')
    const amountEuros = spentOf(outside)
    const wholeEuros = spentOf(sums)
    if (amountEuros <= 0n || wholeEuros <= 0n) return []
    const share = Number(amountEuros) / Number(wholeEuros)
    if (1 - share < MOSTLY_IN_RUNS) return []
    const payments = outside.reduce((all, one) => all + one.payments, 0)
    return {
      kind: 'outside_of_runs' as const,
      agentId: sums[0]?.agentId || null,
      merchant: null,
      day: lastDay,
      sentence: `${inEuros(amountEuros)} were spent outside of any run, ${inPercent(share)} of all; the rest belongs to runs.`,
      figures: { amountEuros, share: rounded(share), times: payments },
      score: 0.5,
    }
  })
}
