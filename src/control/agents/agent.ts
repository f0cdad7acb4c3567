import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'

export const agentMachine = machine('agent', {
  active: ['frozen', 'deleting'],
  frozen: ['active', 'deleting'],
  deleting: ['deleted'],
  deleted: [],
})

const schema = defineEntity({
  ...tenantTable('Agent', 'agents', 'id'),
  properties: {
    ...record('agent'),
    name: p.text(),
    description: nullable.string(),
    externalId: nullable.string(),
    status: p.enum(agentMachine.states).onCreate(() => agentMachine.initial),
    frozenReason: nullable.string(),
    /** The risk alert that froze the agent; null if a person did. */
    frozenByAlertId: nullable.string(),
    walletId: p.text().onCreate(() => newId('wallet')),
    policyId: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    /** The sweep carries on with the deletion from this instant, should the process not have finished it. */
    deletionDueAt: nullable.instant(),
  },
})

export class Agent extends schema.class {}
schema.setClass(Agent)
