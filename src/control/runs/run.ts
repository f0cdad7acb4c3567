import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

export const runMachine = machine('run', {
  running: ['completed', 'failed'],
  completed: [],
  failed: [],
})

const schema = defineEntity({
  ...tenantTable('Run', 'runs', 'agentId'),
  properties: {
    ...record('run'),
    agentId: p.text(),
    /** The delegation whose token started the run. */
    delegationId: nullable.string(),
    name: p.text(),
    externalId: nullable.string(),
    status: p.enum(runMachine.states).onCreate(() => runMachine.initial),
    budgetEuros: nullable.euros('budget_cents'),
    /** The caller's words at the completion. */
    comment: nullable.string(),
    /** Why the run failed. */
    reason: nullable.string(),
    endedAt: nullable.instant(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

export class Run extends schema.class {}
schema.setClass(Run)
