import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import { addDays, type ReportScope } from '../../reports/index.ts'
import { readSpend, readTop, type SpendSum } from '../../spend/index.ts'
import type { Anomaly } from './anomaly.ts'
import { budgetsAtThisPace, monthlyLimits } from './budgets.ts'
import { chargedTwice, dearerSubscriptions } from './charges.ts'
import { daysAboveUsual, merchantsAboveUsual } from './far-from-usual.ts'
import { newMerchants, outsideOfRuns } from './newcomers.ts'

/** What is usual is what was so in these days before the last one. */
const USUAL_DAYS = 182
/** A monthly rhythm needs more than a year to be seen changing. */
const RHYTHM_DAYS = 400
/** Merchants that get less than these are not looked at one by one. */
const MOST_MERCHANTS = 200

const inOrder = (sums: readonly SpendSum[]): SpendSum[] =>
  sums.toSorted((one, other) => (one.day < other.day ? -1 : 1))

const byAgentOf = (sums: readonly SpendSum[]): Map<string, SpendSum[]> =>
  Map.groupBy(inOrder(sums), ({ agentId }) => agentId)

/** What each agent has paid each of the merchants that got most, day by day. */
async function merchantSeries(sql: Sql, tenant: Tenant, scope: ReportScope): Promise<SpendSum[][]> {
  const { sums } = await readTop(sql, tenant, { ...scope, views: ['merchant'] }, MOST_MERCHANTS)
  const values = sums.flatMap(({ value }) => value ?? [])
  if (values.length === 0) return []
  const from = addDays(scope.before, -RHYTHM_DAYS)
  const by = ['day', 'agent', 'value'] as const
  const days = await readSpend(sql, tenant, {
    ...scope,
    from: from < scope.from ? from : scope.from,
    values,
    views: ['merchant'],
    by,
  })
  return [...Map.groupBy(inOrder(days), ({ agentId, value }) => `${agentId} ${value}`).values()]
}

const byScore = (one: Anomaly, other: Anomaly): number => {
  const keyOf = ({ kind, day, agentId, merchant }: Anomaly): string =>
    [kind, day, agentId, merchant].join('\n')
  return other.score - one.score || (keyOf(one) < keyOf(other) ? -1 : 1)
}

/** What was unusual in these days: the same days give the same answer, as long as nothing of them changes. */
export async function anomaliesIn(sql: Sql, tenant: Tenant, scope: ReportScope): Promise<Anomaly[]> {
  const { from, before } = scope
  const earliest = addDays(before, -USUAL_DAYS)
  const usual = { ...scope, from: earliest < from ? earliest : from }
  const [days, merchants, runs, limits] = await Promise.all([
    readSpend(sql, tenant, { ...usual, views: ['agent'], by: ['day', 'agent'] }),
    merchantSeries(sql, tenant, scope),
    readSpend(sql, tenant, { ...scope, views: ['run'], by: ['agent', 'inRun'] }),
    monthlyLimits(sql, tenant),
  ])
  const byAgent = byAgentOf(days)
  const lastDay = addDays(before, -1)
  const ofAgent = (agentId: string) => merchants.filter(([first]) => first?.agentId === agentId)
  const agents = [...byAgent].map(([agentId, own]) => ({ days: own, merchants: ofAgent(agentId) }))
  const limitsOf =
    scope.agentId === undefined ? limits : new Map([...limits].filter(([id]) => id === scope.agentId))
  return [
    ...daysAboveUsual(byAgent.values(), from),
    ...merchantsAboveUsual(merchants, from),
    ...dearerSubscriptions(merchants, scope),
    ...chargedTwice(merchants, from),
    ...newMerchants(agents, from),
    ...budgetsAtThisPace(byAgent, limitsOf, lastDay),
    ...outsideOfRuns(byAgentOf(runs).values(), lastDay),
  ].sort(byScore)
}
