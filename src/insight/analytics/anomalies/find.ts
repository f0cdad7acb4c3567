import { type CsvColumns, csvText } from '../../../values/csv.ts'
import { decimal } from '../../../values/money.ts'
import { addDays, type ReportScope } from '../../reports/index.ts'
import { linesOf, parametersOf, readTop, type Spend, type View } from '../../spend/index.ts'
import { CHARGE_SERIES, RHYTHM_DAYS } from '../charge-series.ts'
import {
  type Anomaly,
  type AnomalyGrouping,
  type AnomalyText,
  type anomalyKinds,
  type Candidate,
  mostUnusual,
  rounded,
} from './anomaly.ts'
import {
  describeOutlier,
  describePriceIncrease,
  isPaceKnown,
  newMerchants,
  newTold,
  OUTSIDE_OF_RUNS,
  outlierDays,
  outsideTold,
  paceTold,
  priceIncreases,
  projectedOverspend,
  repeatedCharges,
  twiceTold,
} from './kinds.ts'

const tellings: Readonly<Record<(typeof anomalyKinds)[number], (of: Candidate) => AnomalyText>> = {
  day_above_usual: describeOutlier('day_above_usual'),
  merchant_above_usual: describeOutlier('merchant_above_usual'),
  subscription_dearer: describePriceIncrease,
  charged_twice: twiceTold,
  new_merchant: newTold,
  budget_at_this_pace: paceTold,
  outside_of_runs: outsideTold,
}

const keyOf = ({ kind, day, agentId, merchant }: Anomaly): string => [kind, day, agentId, merchant].join('\n')

const byScore = (one: Anomaly, other: Anomaly): number =>
  other.score - one.score || (keyOf(one) < keyOf(other) ? -1 : 1)

const anomalyOf = (candidate: Candidate): Anomaly => {
  const { kind, agentId, merchant, day } = candidate
  return { kind, agentId: agentId || null, merchant, day, ...tellings[kind](candidate) }
}

/**
 * Returns the most unusual first. The same days give the same answer as long as their payments do not change.
 * Only the anomalies that may be listed leave the database.
 */
export async function anomaliesIn(spend: Spend, scope: ReportScope, limit: number) {
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
    .map(one => ({ ...one, score: rounded(one.score) }))
  return { data, others: all - data.length }
}

const MOST_MERCHANTS = 200

export const anomalyViews = ['agent', 'merchant', 'run'] as const

interface Found extends Candidate {
  readonly inAll: number
}

interface AnomalyQuery {
  readonly spend: Spend
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
${CHARGE_SERIES}`

async function unusualSpending({ spend, scope, limit }: AnomalyQuery): Promise<Found[]> {
  const sums = await readTop(spend, { ...scope, views: ['merchant'] }, MOST_MERCHANTS)
  const values = ['', ...sums.flatMap(({ value }) => value ?? [])]
  const rhythmsFrom = addDays(scope.before, -RHYTHM_DAYS)
  const from = rhythmsFrom < scope.from ? rhythmsFrom : scope.from
  const question = { ...scope, from, values, views: ['agent', 'merchant'] as const }
  const parameters = parametersOf(spend, question)
  const place = parameters.length + 1
  const since = `$${place}::date`
  const kinds = {
    day_above_usual: outlierDays('day_above_usual', 'of_agents', since),
    merchant_above_usual: outlierDays('merchant_above_usual', 'of_merchants', since),
    subscription_dearer: priceIncreases(since),
    charged_twice: repeatedCharges(since),
    new_merchant: newMerchants(since),
  }
  const text = `with ${linesOf(question)}, ${SERIES} ${mostUnusual(kinds, `$${place + 1}`)}`
  return spend.sql<Found>(text, [...parameters, scope.from, limit])
}

function unusualLines(
  asked: AnomalyQuery,
  view: View,
  from: string,
  kind: string,
  select: string,
): Promise<Found[]> {
  const { spend, scope, limit } = asked
  const question = { ...scope, from, views: [view] }
  const parameters = parametersOf(spend, question)
  const text = `with ${linesOf(question)} ${mostUnusual({ [kind]: select }, `$${parameters.length + 1}`)}`
  return spend.sql<Found>(text, [...parameters, limit])
}

const outsideOfRuns = (asked: AnomalyQuery): Promise<Found[]> =>
  unusualLines(asked, 'run', asked.scope.from, 'outside_of_runs', OUTSIDE_OF_RUNS)

async function budgetsAtThisPace(asked: AnomalyQuery): Promise<Found[]> {
  const lastDay = addDays(asked.scope.before, -1)
  if (lastDay < asked.scope.from || !isPaceKnown(lastDay)) return []
  const paces = projectedOverspend(asked.scope.agentId !== undefined)
  return unusualLines(asked, 'agent', `${lastDay.slice(0, 7)}-01`, 'budget_at_this_pace', paces)
}

const keys: Readonly<Record<AnomalyGrouping, (of: Anomaly) => string | null>> = {
  kind: ({ kind }) => kind,
  agent: ({ agentId }) => agentId,
  merchant: ({ merchant }) => merchant,
}

export function groupsOf(
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
  merchant: ({ merchant }) => csvText(merchant),
  sentence: ({ sentence }) => csvText(sentence),
  amountCents: ({ figures }) => decimal(figures.amountCents),
  score: ({ score }) => String(score),
}
