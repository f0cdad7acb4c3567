import { area } from '../../kernel/contract/area.ts'
import { type ContextOf, type InputOf, implement } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { costsOf } from './costs.ts'
import { costsApi } from './costs-api.ts'
import { costColumns, costLines } from './costs-table.ts'
import { analyticsPersonal } from './personal.ts'
import { scopeOf, shownSpan } from './scope.ts'
import { tableFile } from './table.ts'

type CostsQuery = InputOf<typeof costsApi.costs>['query']

async function readCosts(
  { groupBy, limit, ...wished }: CostsQuery,
  context: ContextOf<typeof costsApi.costs>,
) {
  const scope = await scopeOf(wished, context)
  if (scope instanceof Refusal) return scope
  const costs = await costsOf(context.sql, context.tenant, { ...scope, groupBy, most: limit })
  return { scope, costs }
}

const analytics = implement(costsApi, {
  async costs({ query }, context) {
    const read = await readCosts(query, context)
    if (read instanceof Refusal) return read
    return { ...shownSpan(read.scope), groupBy: query.groupBy, ...read.costs }
  },

  async costsTable({ query }, context) {
    const read = await readCosts(query, context)
    if (read instanceof Refusal) return read
    return tableFile('costs', read.scope, costColumns, costLines(read.costs))
  },
})

export const analyticsArea = area(
  'Analytics',
  'What agents cost, by whom and for what: exact as of the answer.',
  analytics,
  { personal: analyticsPersonal },
)
