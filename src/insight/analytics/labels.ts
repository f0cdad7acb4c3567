import { labelInSql } from '../spend/index.ts'

const KEPT = 'payments, spent_cents, refunded_cents'

const less = (column: string): string => `case when view = 'run' then ${column} else -${column} end`

/** The label of a record that a sum belongs to. */
const labelOf = (table: 'runs' | 'agents', id: string, key: string): string => `
left join lateral (
  select ${labelInSql(`(one.metadata ->> ${key})`)} as text from ${table} one
  where (one.owner_id, one.mode, one.id) = ($1, $2, ${id}) limit 1
) as of_${table} on true`

/**
 * SQL: the CTE `labelled` of `lines`, each with its label, which is empty where it has none. By a key of the metadata, the
 * parameter `key`, it is the label of the intent, else that of the run, else that of the agent: `lines` has the view of the
 * key, whose labels are those of intents, and the view of runs, in which every payment is.
 */
export function labelledBy(groupBy: string, key: string): string {
  if (!groupBy.startsWith('metadata.')) {
    const label = { agent: 'agent_id', run: 'run_id', merchant: 'value' }[groupBy]
    return `labelled (label, ${KEPT}) as (select ${label}, ${KEPT} from lines)`
  }
  return `
rest as (
  select agent_id, run_id, sum(${less('payments')}) as payments, sum(${less('spent_cents')}) as spent_cents,
    sum(${less('refunded_cents')}) as refunded_cents
  from lines group by 1, 2
),
labelled (label, ${KEPT}) as (
  select value, ${KEPT} from lines where view <> 'run'
  union all
  select coalesce(of_runs.text, of_agents.text, '') collate "C", ${KEPT}
  from rest ${labelOf('runs', 'rest.run_id', key)} ${labelOf('agents', 'rest.agent_id', key)}
)`
}
