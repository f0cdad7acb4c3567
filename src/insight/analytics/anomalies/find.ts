import { type CsvColumns, csvCell } from '../../../values/csv.ts'
import { formatDecimal } from '../../../values/money.ts'
import { addDays, type ReportScope } from '../../reports/index.ts'
import {
  readTopSpend,
  type SpendSnapshot,
  type SpendView,
  spendLinesSql,
  spendQueryParameters,
} from '../../spend/index.ts'
import { CHARGE_SERIES_HISTORY_DAYS, CHARGE_SERIES_SQL } from '../charge-series.ts'
import {
  type Anomaly,
  type AnomalyCandidate,
  type AnomalyGrouping,
  type AnomalyText,
  type anomalyKinds,
  mostUnusualSql,
  roundToCents,
} from './anomaly.ts'
import {
  canProjectPace,
  describeNewMerchant,
  describeOutlier,
  describePriceIncrease,
  describeProjectedOverspend,
  describeRepeatedCharge,
  describeSpendOutsideRuns,
  newMerchantsSql,
  outlierDaysSql,
  priceIncreasesSql,
  projectedOverspendSql,
  repeatedChargesSql,
  SPEND_OUTSIDE_RUNS_SQL,
} from './kinds.ts'

const tellings: Readonly<Record<(typeof anomalyKinds)[number], (of: AnomalyCandidate) => AnomalyText>> = {
  day_above_usual: describeOutlier('day_above_usual'),
  merchant_above_usual: describeOutlier('merchant_above_usual'),
  subscription_dearer: describePriceIncrease,
  charged_twice: describeRepeatedCharge,
  new_merchant: describeNewMerchant,
  budget_at_this_pace: describeProjectedOverspend,
  outside_of_runs: describeSpendOutsideRuns,
}

const keyOf = ({ kind, day, agentId, merchant }: Anomaly): string => [kind, day, agentId, merchant].join('\n')

const byScore = (one: Anomaly, other: Anomaly): number =>
  other.score - one.score || (keyOf(one) < keyOf(other) ? -1 : 1)

const anomalyOf = (candidate: AnomalyCandidate): Anomaly => {
  const { kind, agentId, merchant, day } = candidate
  return { kind, agentId: agentId || null, merchant, day, ...tellings[kind](candidate) }
}

/**
 * Returns the most unusual first. The same days give the same answer as long as their payments do not change.
 * Only the anomalies that may be listed leave the database.
 */
export async function findAnomalies(spend: SpendSnapshot, scope: ReportScope, limit: number) {
  const asked = { spend, scope, limit }
  const found = (
    await Promise.all([unusualSpending(asked), outsideOfRuns(asked), budgetsAtThisPace(asked)])
  ).flat()
  const counts = new Map(found.map(({ kind, inAll }) => [kind, inAll]))
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const data = found
    .map(anomalyOf)
    .sort(byScore)
    .slice(0, limit)
    .map(one => ({ ...one, score: roundToCents(one.score) }))
  return { data, others: all - data.length }
}

const MOST_MERCHANTS = 200

export const anomalyViews = ['agent', 'merchant', 'run'] as const

interface Found extends AnomalyCandidate {
  readonly inAll: number
}

interface AnomalyQuery {
  readonly spend: SpendSnapshot
  readonly scope: ReportScope
  readonly limit: number
}

const SERIES = `
of_agents as materialized (
  select agent_id, '' as value, day, sum(payments) as payments, sum(spent_cents) as spent from lines
  where view = 'agent' group by 1, 3
),
of_merchants as materialized (
  select agent_id, value, day, sum(payments) as payments, sum(spent_cents) as spent, sum(refunded_cents) as refunded
  from lines where view = 'merchant' group by 1, 2, 3
),
paid as (select agent_id, value, day, payments, spent::bigint as spent from of_merchants where payments > 0),
${CHARGE_SERIES_SQL}`

async function unusualSpending({ spend, scope, limit }: AnomalyQuery): Promise<Found[]> {
  const sums = await readTopSpend(spend, { ...scope, views: ['merchant'] }, MOST_MERCHANTS)
  const values = ['', ...sums.flatMap(({ value }) => value ?? [])]
  const rhythmsFrom = addDays(scope.before, -CHARGE_SERIES_HISTORY_DAYS)
  const from = rhythmsFrom < scope.from ? rhythmsFrom : scope.from
  const question = { ...scope, from, values, views: ['agent', 'merchant'] as const }
  const parameters = spendQueryParameters(spend, question)
  const place = parameters.length + 1
  const since = `$${place}::date`
  const kinds = {
    day_above_usual: outlierDaysSql('day_above_usual', 'of_agents', since),
    merchant_above_usual: outlierDaysSql('merchant_above_usual', 'of_merchants', since),
    subscription_dearer: priceIncreasesSql(since),
    charged_twice: repeatedChargesSql(since),
    new_merchant: newMerchantsSql(since),
  }
  const text = `with ${spendLinesSql(question)}, ${SERIES} ${mostUnusualSql(kinds, `$${place + 1}`)}`
  return spend.sql<Found>(text, [...parameters, scope.from, limit])
}

function unusualLines(
  asked: AnomalyQuery,
  view: SpendView,
  from: string,
  kind: string,
  select: string,
): Promise<Found[]> {
  const { spend, scope, limit } = asked
  const question = { ...scope, from, views: [view] }
  const parameters = spendQueryParameters(spend, question)
  const text = `with ${spendLinesSql(question)} ${mostUnusualSql({ [kind]: select }, `$${parameters.length + 1}`)}`
  return spend.sql<Found>(text, [...parameters, limit])
}

const outsideOfRuns = (asked: AnomalyQuery): Promise<Found[]> =>
  unusualLines(asked, 'run', asked.scope.from, 'outside_of_runs', SPEND_OUTSIDE_RUNS_SQL)

async function budgetsAtThisPace(asked: AnomalyQuery): Promise<Found[]> {
  const lastDay = addDays(asked.scope.before, -1)
  if (lastDay < asked.scope.from || !canProjectPace(lastDay)) return []
  const paces = projectedOverspendSql(asked.scope.agentId !== undefined)
  return unusualLines(asked, 'agent', `${lastDay.slice(0, 7)}-01`, 'budget_at_this_pace', paces)
}

const keys: Readonly<Record<AnomalyGrouping, (of: Anomaly) => string | null>> = {
  kind: ({ kind }) => kind,
  agent: ({ agentId }) => agentId,
  merchant: ({ merchant }) => merchant,
}

export function groupAnomalies(
  found: readonly Anomaly[],
  groupBy: AnomalyGrouping,
  names: ReadonlyMap<string, string>,
) {
  return [...Map.groupBy(found, keys[groupBy])]
    .map(([key, ofKey]) => ({
      key,
      name: groupBy === 'agent' ? (names.get(key ?? '') ?? null) : null,
      count: ofKey.length,
    }))
    .sort((one, other) => other.count - one.count || ((one.key ?? '') < (other.key ?? '') ? -1 : 1))
}

export const anomalyColumns: CsvColumns<Anomaly> = {
  day: ({ day }) => day,
  kind: ({ kind }) => kind,
  agentId: ({ agentId }) => agentId ?? '',
  merchant: ({ merchant }) => csvCell(merchant),
  sentence: ({ sentence }) => csvCell(sentence),
  amountCents: ({ figures }) => formatDecimal(figures.amountCents),
  score: ({ score }) => String(score),
}
