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
    /** The risk alert that it was frozen with; null where a person has frozen it. */
    frozenByAlertId: nullable.string(),
    walletId: p.text().onCreate(() => newId('wallet')),
    policyId: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
    /** From then on whoever comes by finishes its deletion, where its process has not done so. */
    deletionDueAt: nullable.instant(),
  },
})

export class Agent extends schema.class {}
schema.setClass(Agent)
