import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import { type InputOf, implement } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { CsvColumns } from '../../values/csv.ts'
import { namesOfAgents, type ReportScope, scopeOf, shownSpan, tableFile } from '../reports/index.ts'
import { allocationOf } from './allocation.ts'
import { allocationApi } from './allocation-api.ts'
import { allocationColumns, allocationLines } from './allocation-table.ts'
import { anomaliesApi } from './anomalies/api.ts'
import { anomaliesIn } from './anomalies/find.ts'
import { anomalyColumns } from './anomalies/table.ts'
import { costsOf } from './costs.ts'
import { costsApi } from './costs-api.ts'
import { costColumns, costLines } from './costs-table.ts'
import { merchantsOf } from './merchants.ts'
import { merchantsApi } from './merchants-api.ts'
import { merchantColumns, merchantLines } from './merchants-table.ts'
import { analyticsPersonal } from './personal.ts'
import { savingsOf } from './savings.ts'
import { savingsApi } from './savings-api.ts'
import { savingColumns, savingLines } from './savings-table.ts'

type Asking = Context<'span_invalid' | 'agent_not_found'>
type Wished = Parameters<typeof scopeOf>[0]

/** A report in two forms: one reading, told as JSON and as a table. */
function report<Q extends Wished, R extends object, T>(
  name: string,
  read: (scope: ReportScope, query: Q, context: Asking) => Promise<R>,
  columns: CsvColumns<T>,
  linesOf: (report: R, scope: ReportScope) => readonly T[],
) {
  const reading = async (query: Q, context: Asking) => {
    const scope = await scopeOf(query, context)
    return scope instanceof Refusal ? scope : { scope, report: await read(scope, query, context) }
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
  async (scope, { groupBy, limit }: InputOf<typeof costsApi.costs>['query'], { sql, tenant }) => ({
    groupBy,
    ...(await costsOf(sql, tenant, { ...scope, groupBy, most: limit })),
  }),
  costColumns,
  costLines,
)

const merchants = report(
  'merchants',
  async (scope, { groupBy, limit }: InputOf<typeof merchantsApi.merchants>['query'], { sql, tenant }) => ({
    groupBy,
    ...(await merchantsOf(sql, tenant, { ...scope, groupBy, limit })),
  }),
  merchantColumns,
  merchantLines,
)

const allocation = report(
  'allocation',
  async (scope, query: InputOf<typeof allocationApi.allocation>['query'], { sql, tenant }) => {
    const { groupBy, shared, limit } = query
    return { groupBy, shared, ...(await allocationOf(sql, tenant, { ...scope, groupBy, shared, limit })) }
  },
  allocationColumns,
  allocationLines,
)

const savings = report(
  'savings',
  (scope, _: InputOf<typeof savingsApi.savings>['query'], { sql, tenant }) => savingsOf(sql, tenant, scope),
  savingColumns,
  savingLines,
)

const anomalies = report(
  'anomalies',
  async (scope, { limit }: InputOf<typeof anomaliesApi.anomalies>['query'], { sql, tenant }) => {
    const { data, others } = await anomaliesIn(sql, tenant, scope, limit)
    const names = await namesOfAgents(
      sql,
      tenant,
      data.flatMap(({ agentId }) => agentId ?? []),
    )
    return { data: data.map(one => ({ ...one, name: names.get(one.agentId ?? '') ?? null })), others }
  },
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

export const analyticsArea = area(
  'Analytics',
  'What agents cost, by whom and for what: exact as of the answer.',
  analytics,
  { personal: analyticsPersonal },
)
