import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { type InputOf, implement } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { CsvColumns } from '../../values/csv.ts'
import type { Personal } from '../../values/personal.ts'
import { type KnownScope, namesOfAgents, scopeOf, shownSpan, tableFile } from '../reports/index.ts'
import { type Spend, type View, withSnapshot } from '../spend/index.ts'
import { allocationColumns, allocationLines, allocationOf, allocationViews } from './allocation.ts'
import { allocationApi } from './allocation-api.ts'
import { anomaliesApi } from './anomalies/api.ts'
import { anomaliesIn, anomalyColumns, anomalyViews, groupsOf } from './anomalies/find.ts'
import { costColumns, costLines, costsOf, costViews } from './costs.ts'
import { costsApi } from './costs-api.ts'
import { merchantColumns, merchantLines, merchantsOf } from './merchants.ts'
import { merchantsApi } from './merchants-api.ts'
import { notByAgent, savingColumns, savingLines, savingsByAgent, savingsOf, savingsViews } from './savings.ts'
import { savingsApi } from './savings-api.ts'

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
} as const satisfies Personal

type Asking = Context<'span_invalid' | 'agent_not_found'>
type Wished = Parameters<typeof scopeOf>[0]

function report<Q extends Wished, R extends object, T>(
  name: string,
  read: (spend: Spend, scope: KnownScope, query: Q) => Promise<R>,
  viewsOf: (query: Q) => readonly View[],
  columns: CsvColumns<T>,
  linesOf: (report: R, scope: KnownScope) => readonly T[],
) {
  const reading = async (query: Q, context: Asking) => {
    const scope = await scopeOf(query, context)
    if (scope instanceof Refusal) return scope
    const wanted = { agentId: scope.agentId, views: viewsOf(query) }
    return { scope, report: await withSnapshot(context, wanted, spend => read(spend, scope, query)) }
  }
  return {
    async json({ query }: { query: Q }, context: Asking) {
      const found = await reading(query, context)
      return found instanceof Refusal ? found : { ...shownSpan(found.scope), ...found.report }
    },
    async table({ query }: { query: Q }, context: Asking): Promise<File | Refusal> {
      const found = await reading(query, context)
      if (found instanceof Refusal) return found
      return tableFile(name, found.scope, columns, linesOf(found.report, found.scope))
    },
  }
}

const costs = report(
  'costs',
  async (spend, scope, { groupBy, limit }: InputOf<typeof costsApi.costs>['query']) => ({
    groupBy,
    ...(await costsOf(spend, { ...scope, groupBy, most: limit })),
  }),
  () => costViews,
  costColumns,
  costLines,
)

const merchants = report(
  'merchants',
  async (spend, scope, { groupBy, limit }: InputOf<typeof merchantsApi.merchants>['query']) => ({
    groupBy,
    ...(await merchantsOf(spend, { ...scope, groupBy, limit })),
  }),
  ({ groupBy }) => [groupBy],
  merchantColumns,
  merchantLines,
)

const allocation = report(
  'allocation',
  async (spend, scope, query: InputOf<typeof allocationApi.allocation>['query']) => {
    const { groupBy, shared, limit } = query
    return { groupBy, shared, ...(await allocationOf(spend, { ...scope, groupBy, shared, limit })) }
  },
  ({ groupBy }) => allocationViews(groupBy),
  allocationColumns,
  allocationLines,
)

const savings = report(
  'savings',
  async (spend, scope, { groupBy, limit }: InputOf<typeof savingsApi.savings>['query']) => {
    const [savings, grouped] = await Promise.all([
      savingsOf(spend, scope),
      groupBy === 'agent' ? savingsByAgent(spend, scope, limit) : notByAgent,
    ])
    return { groupBy, ...savings, ...grouped }
  },
  () => savingsViews,
  savingColumns,
  savingLines,
)

const anomalies = report(
  'anomalies',
  async (spend, scope, { groupBy, limit }: InputOf<typeof anomaliesApi.anomalies>['query']) => {
    const { data, others } = await anomaliesIn(spend, { ...scope, before: scope.knownBefore }, limit)
    const ids = data.flatMap(({ agentId }) => agentId ?? [])
    const names = await namesOfAgents(spend, ids)
    return {
      groupBy,
      data: data.map(one => ({ ...one, name: names.get(one.agentId ?? '') ?? null })),
      groups: groupsOf(data, groupBy, names),
      others,
    }
  },
  () => anomalyViews,
  anomalyColumns,
  ({ data }) => data,
)

const analytics = implement(
  { ...costsApi, ...merchantsApi, ...anomaliesApi, ...allocationApi, ...savingsApi },
  {
    costs: costs.json,
    costsTable: costs.table,
    merchants: merchants.json,
    merchantsTable: merchants.table,
    anomalies: anomalies.json,
    anomaliesTable: anomalies.table,
    allocation: allocation.json,
    allocationTable: allocation.table,
    savings: savings.json,
    savingsTable: savings.table,
  },
)

export const analyticsArea = area('Analytics', 'Spending reports, exact as of the answer.', analytics, {
  personal: analyticsPersonal,
})
