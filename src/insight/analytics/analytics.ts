import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { bindHandlers, type InputOf } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { CsvColumns } from '../../values/csv.ts'
import type { PersonalData } from '../../values/personal.ts'
import {
  csvReportFile,
  inclusiveSpan,
  type ReportScopeUntilToday,
  readAgentNames,
  resolveReportScope,
} from '../reports/index.ts'
import { type SpendSnapshot, type SpendView, withSpendSnapshot } from '../spend/index.ts'
import { allocationCsvColumns, allocationCsvLines, allocationViews, computeAllocation } from './allocation.ts'
import { allocationApi } from './allocation-api.ts'
import { anomaliesApi } from './anomalies/api.ts'
import { anomalyColumns, anomalyViews, findAnomalies, groupAnomalies } from './anomalies/find.ts'
import { computeCosts, costColumns, costCsvLines, costViews } from './costs.ts'
import { costsApi } from './costs-api.ts'
import { computeMerchantSpend, merchantColumns, merchantCsvLines } from './merchants.ts'
import { merchantReportsApi } from './merchants-api.ts'

const analyticsPersonal = {
  spend_counted: {
    personal: { merchant: { kind: 'payment', ground: 'contract', forget: 'word' } },
    plain: ['kind', 'type', 'rule'],
  },
  spend_cells: {
    personal: {
      // Values include the keys of metadata, which people have written.
      view: { kind: 'words', ground: 'contract', forget: 'pseudonym' },
      value: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
  merchant_names: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
      name: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
} as const satisfies PersonalData

type Asking = Context<'span_invalid' | 'agent_not_found'>
type Wished = Parameters<typeof resolveReportScope>[0]

function report<Q extends Wished, R extends object, T>(
  name: string,
  read: (spend: SpendSnapshot, scope: ReportScopeUntilToday, query: Q) => Promise<R>,
  viewsOf: (query: Q) => readonly SpendView[],
  columns: CsvColumns<T>,
  linesOf: (report: R, scope: ReportScopeUntilToday) => readonly T[],
) {
  return async ({ query }: { query: Q }, context: Asking) => {
    const scope = await resolveReportScope(query, context)
    if (scope instanceof Refusal) return scope
    const wanted = { agentId: scope.agentId, views: viewsOf(query) }
    const found = await withSpendSnapshot(context, wanted, spend => read(spend, scope, query))
    if (context.asCsv) return csvReportFile(name, scope, columns, linesOf(found, scope))
    return { ...inclusiveSpan(scope), ...found }
  }
}

const costs = report(
  'costs',
  async (spend, scope, { groupBy, limit }: InputOf<typeof costsApi.costs>['query']) => ({
    groupBy,
    ...(await computeCosts(spend, { ...scope, groupBy, most: limit })),
  }),
  () => costViews,
  costColumns,
  costCsvLines,
)

const merchants = report(
  'merchants',
  async (spend, scope, { groupBy, limit }: InputOf<typeof merchantReportsApi.merchants>['query']) => ({
    groupBy,
    ...(await computeMerchantSpend(spend, { ...scope, groupBy, limit })),
  }),
  ({ groupBy }) => [groupBy],
  merchantColumns,
  merchantCsvLines,
)

const allocation = report(
  'allocation',
  async (spend, scope, query: InputOf<typeof allocationApi.allocation>['query']) => {
    const { groupBy, shared, limit } = query
    return { groupBy, shared, ...(await computeAllocation(spend, { ...scope, groupBy, shared, limit })) }
  },
  ({ groupBy }) => allocationViews(groupBy),
  allocationCsvColumns,
  allocationCsvLines,
)

const anomalies = report(
  'anomalies',
  async (spend, scope, { groupBy, limit }: InputOf<typeof anomaliesApi.anomalies>['query']) => {
    const { data, others } = await findAnomalies(spend, { ...scope, before: scope.knownBefore }, limit)
    const ids = data.flatMap(({ agentId }) => agentId ?? [])
    const names = await readAgentNames(spend, ids)
    return {
      groupBy,
      data: data.map(one => ({ ...one, name: names.get(one.agentId ?? '') ?? null })),
      groups: groupAnomalies(data, groupBy, names),
      others,
    }
  },
  () => anomalyViews,
  anomalyColumns,
  ({ data }) => data,
)

const analytics = bindHandlers(
  { ...costsApi, ...merchantReportsApi, ...anomaliesApi, ...allocationApi },
  { costs, merchants, anomalies, allocation },
)

export const analyticsArea = area('Analytics', 'Spending reports, exact as of the answer.', analytics, {
  personal: analyticsPersonal,
})
