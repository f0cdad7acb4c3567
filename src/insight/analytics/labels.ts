import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ReportScope } from '../reports/index.ts'
import { labelInSql, readSpend, type SpendSum } from '../spend/index.ts'

const labelsIn = (table: 'runs' | 'agents'): string => `
select id, ${labelInSql('(metadata ->> $4)')} as label from ${table}
where owner_id = $1 and mode = $2 and id = any($3::text[]) and metadata ->> $4 is not null`

async function labelsOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  table: 'runs' | 'agents',
  ids: readonly string[],
  key: string,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; label: string } & Row>(labelsIn(table), [ownerId, mode, ids, key])
  return new Map(rows.map(({ id, label }) => [id, label]))
}

const distinct = (ids: readonly string[]): string[] => [...new Set(ids.filter(Boolean))]

const placeOf = ({ agentId, runId }: SpendSum): string => `${agentId} ${runId}`

/** What is left of a sum once these are taken off. */
const less = (sum: SpendSum, others: readonly SpendSum[]): SpendSum => {
  const add = (of: (one: SpendSum) => bigint): bigint => others.reduce((all, one) => all + of(one), 0n)
  return {
    ...sum,
    value: '',
    payments: sum.payments - others.reduce((all, { payments }) => all + payments, 0),
    spentEuros: sum.spentEuros - add(({ spentEuros }) => spentEuros),
    refundedEuros: sum.refundedEuros - add(({ refundedEuros }) => refundedEuros),
    feesEuros: sum.feesEuros - add(({ feesEuros }) => feesEuros),
  }
}

/**
 * What was spent by a key of the metadata, each sum with its label as `value`, or without one: that of the intent, else that of
 * the run, else that of the agent.
 */
export async function spendByLabel(
  sql: Sql,
  tenant: Tenant,
  { key, ...scope }: ReportScope & { readonly key: string },
): Promise<SpendSum[]> {
  const view = `label:${key}` as const
  const by = ['view', 'agent', 'run', 'value'] as const
  const sums = await readSpend(sql, tenant, { ...scope, views: [view, 'run'], by })
  const labelled = sums.filter(sum => sum.view === view)
  const byPlace = Map.groupBy(labelled, placeOf)
  const rest = sums
    .filter(sum => sum.view === 'run')
    .map(sum => less(sum, byPlace.get(placeOf(sum)) ?? []))
    .filter(sum => sum.payments !== 0 || sum.spentEuros !== 0n || sum.refundedEuros !== 0n)
  const [ofRuns, ofAgents] = await Promise.all([
    labelsOf(sql, tenant, 'runs', distinct(rest.map(({ runId }) => runId)), key),
    labelsOf(sql, tenant, 'agents', distinct(rest.map(({ agentId }) => agentId)), key),
  ])
  return [
    ...labelled,
    ...rest.map(sum => ({ ...sum, value: ofRuns.get(sum.runId) ?? ofAgents.get(sum.agentId) ?? '' })),
  ]
}
