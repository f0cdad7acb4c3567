import type { Euros } from '../../values/money.ts'
import { changeOf, daysBetween, figuresOf, namesOfAgents, shareOf } from '../reports/index.ts'
import type { Spend } from '../spend/index.ts'
import { type CostRow, type CostsWanted, costRows } from './cost-rows.ts'

/** A report has no more lines than this: of many periods, fewer agents are told one by one. */
const MOST_LINES = 5_000
const DAYS = { day: 1, week: 7, month: 28 } as const

const periodsIn = ({ from, before, groupBy }: CostsWanted): number =>
  Math.ceil(daysBetween(from, before) / DAYS[groupBy]) + 1

const add = (rows: readonly CostRow[], of: (row: CostRow) => Euros): Euros =>
  rows.reduce((total, row) => total + of(row), 0n)

function totalOf(rows: readonly CostRow[]) {
  const denied = rows.filter(({ view }) => view === 'kept_back')
  const paid = rows.filter(({ view }) => view === 'agent')
  return {
    ...figuresOf(paid),
    feesEuros: add(paid, ({ feesEuros }) => feesEuros),
    deniedCount: denied.reduce((total, { payments }) => total + payments, 0),
    deniedEuros: add(denied, ({ spentEuros }) => spentEuros),
  }
}

/** The sums of some rows, each period by itself, and compared with the whole and with the span before. */
function lineOf(rows: readonly CostRow[], wholeEuros: Euros) {
  const within = rows.filter(({ period }) => period !== null)
  const total = totalOf(within)
  const before = figuresOf(rows.filter(({ view, period }) => view === 'agent' && period === null))
  const periods = [...Map.groupBy(within, ({ period }) => String(period))]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([from, ofPeriod]) => ({ from, ...totalOf(ofPeriod) }))
  return {
    ...total,
    share: shareOf(total.netEuros, wholeEuros),
    netBeforeEuros: before.netEuros,
    change: changeOf(total.netEuros, before.netEuros),
    periods,
  }
}

/** What each agent has cost; what the owner has paid is a line without an agent. */
export async function costsOf(spend: Spend, wanted: CostsWanted) {
  const most = Math.max(1, Math.min(wanted.most, Math.floor(MOST_LINES / periodsIn(wanted))))
  const rows = await costRows(spend, { ...wanted, most })
  const total = lineOf(
    rows,
    figuresOf(rows.filter(({ view, period }) => view === 'agent' && period !== null)).netEuros,
  )
  const byAgent = Map.groupBy(rows, ({ agentId }) => agentId)
  const rest = byAgent.get(null)
  byAgent.delete(null)
  const ids = [...byAgent.keys()].flatMap(id => id || [])
  const names = await namesOfAgents(spend, ids)
  const data = [...byAgent]
    .map(([agentId, ofAgent]) => ({
      agentId: agentId || null,
      name: names.get(agentId ?? '') ?? null,
      ...lineOf(ofAgent, total.netEuros),
    }))
    .filter(
      ({ count, deniedCount, refundedEuros, netBeforeEuros }) =>
        count + deniedCount > 0 || refundedEuros !== 0n || netBeforeEuros !== 0n,
    )
    .sort(
      (one, other) =>
        Number(other.netEuros - one.netEuros) || (String(one.agentId) < String(other.agentId) ? -1 : 1),
    )
  const agents = (rest?.[0]?.agents ?? 0) - byAgent.size
  return { total, data, other: rest ? { agents, ...lineOf(rest, total.netEuros) } : null }
}

export type Costs = Awaited<ReturnType<typeof costsOf>>
