import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { metadataColumn, nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal } from '../../kernel/database/personal.ts'

export const runMachine = stateMachine('run', {
  running: ['completed', 'failed'],
  completed: [],
  failed: [],
})

const schema = defineEntity({
  ...tenantTable('Run', 'runs', 'agentId'),
  properties: {
    ...recordColumns('run'),
    agentId: p.text(),
    delegationId: nullable.string(),
    /** Only of a run that an assistant has started. */
    tokenId: nullable.string(),
    name: personal(p.text(), 'words', 'contract', 'word'),
    externalId: personal(nullable.string(), 'words', 'contract', 'pseudonym'),
    status: p.enum(runMachine.states).onCreate(() => runMachine.initial),
    budgetCents: nullable.cents('budget_cents'),
    comment: personal(nullable.string(), 'words', 'contract', 'word'),
    reason: personal(nullable.string(), 'words', 'contract', 'word'),
    endedAt: nullable.instant(),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
  },
})

export class Run extends schema.class {}
schema.setClass(Run)

export type RunLimit = Pick<Run, 'id' | 'agentId' | 'name' | 'status' | 'budgetCents'>

const LIMITS = `
select id, agent_id as "agentId", name, status, budget_cents as "budgetCents" from runs
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** The caller has locked the agents, so the runs do not change until the transaction ends. */
export async function runLimits(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RunLimit>> {
  const runs = ids.length === 0 ? [] : await sql<RunLimit & Row>(LIMITS, [ownerId, mode, ids])
  return new Map(runs.map(run => [run.id, run]))
}
