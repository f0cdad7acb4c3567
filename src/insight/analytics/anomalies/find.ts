import type { ReportScope } from '../../reports/index.ts'
import type { Spend } from '../../spend/index.ts'
import { type Anomaly, type anomalyKinds, rounded } from './anomaly.ts'
import { paceTold } from './budgets.ts'
import type { Candidate, Telling } from './candidates.ts'
import { dearerTold, twiceTold } from './charges.ts'
import { farTold } from './far-from-usual.ts'
import { newTold, outsideTold } from './newcomers.ts'
import { budgetsAtThisPace, outsideOfRuns, unusualSpending } from './read.ts'

const tellings: Readonly<Record<(typeof anomalyKinds)[number], (of: Candidate) => Telling>> = {
  day_above_usual: farTold('day_above_usual'),
  merchant_above_usual: farTold('merchant_above_usual'),
  subscription_dearer: dearerTold,
  charged_twice: twiceTold,
  new_merchant: newTold,
  budget_at_this_pace: paceTold,
  outside_of_runs: outsideTold,
}

const keyOf = ({ kind, day, agentId, merchant }: Anomaly): string => [kind, day, agentId, merchant].join('\n')

const byScore = (one: Anomaly, other: Anomaly): number =>
  other.score - one.score || (keyOf(one) < keyOf(other) ? -1 : 1)

const told = (candidate: Candidate): Anomaly => {
  const { kind, agentId, merchant, day } = candidate
  return { kind, agentId: agentId || null, merchant, day, ...tellings[kind](candidate) }
}

/**
 * What was unusual in these days, the most unusual first: the same days give the same answer, as long as nothing of them
 * changes. It is found in the database, and only as much of each kind as may be told leaves it.
 */
export async function anomaliesIn(spend: Spend, scope: ReportScope, limit: number) {
  const asked = { spend, scope, limit }
  const found = (
    await Promise.all([unusualSpending(asked), outsideOfRuns(asked), budgetsAtThisPace(asked)])
  ).flat()
  const counts = new Map(found.map(({ kind, inAll }) => [kind, inAll]))
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const data = found
    .map(told)
    .sort(byScore)
    .slice(0, limit)
    .map(one => ({ ...one, score: rounded(one.score) }))
  return { data, others: all - data.length }
}
