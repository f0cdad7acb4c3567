import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Run } from './run.ts'

/** The members of a run that limit what is spent in it. */
export type RunLimit = Pick<Run, 'id' | 'agentId' | 'name' | 'status' | 'budgetEuros'>

const LIMITS = `
select id, agent_id as "agentId", name, status, budget_cents as "budgetEuros" from runs
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Reads runs whose agents the caller has locked: nobody changes them until the transaction ends. */
export async function runLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunLimit>> {
  const runs = ids.length === 0 ? [] : await sql<RunLimit & Row>(LIMITS, [ownerId, mode, ids])
  return new Map(runs.map(run => [run.id, run]))
}
