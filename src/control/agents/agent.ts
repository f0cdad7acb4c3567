import { defineEntity, p } from '@mikro-orm/core'
import type { SqlCondition } from '../../kernel/contract/conditions.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import {
  FOR_UPDATE,
  FOR_UPDATE_BY_ID,
  metadataColumn,
  nullable,
  recordColumns,
  tenantTable,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { tableOf } from '../../kernel/database/table.ts'
import { newId } from '../../values/ids.ts'
import { truncateText } from '../../values/schemas.ts'

export const agentMachine = stateMachine('agent', {
  active: ['frozen', 'deleting'],
  frozen: ['active', 'deleting'],
  deleting: ['deleted'],
  deleted: [],
})

const schema = defineEntity({
  ...tenantTable('Agent', 'agents', 'id'),
  properties: {
    ...recordColumns('agent'),
    name: personal(p.text(), 'words', 'contract', 'word'),
    description: personal(nullable.string(), 'words', 'contract', 'word'),
    externalId: personal(nullable.string(), 'words', 'contract', 'pseudonym'),
    status: p.enum(agentMachine.states).onCreate(() => agentMachine.initial),
    frozenReason: personal(nullable.string(), 'words', 'contract', 'word'),
    frozenByAlertId: plain(nullable.string()),
    walletId: p.text().onCreate(() => newId('wallet')),
    policyId: plain(nullable.string()),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
    /** Since when the deletion is due; null where none was requested. */
    deletionDueAt: nullable.instant(),
  },
})

export class Agent extends schema.class {}
schema.setClass(Agent)

export const agentEvent = (agent: Pick<Agent, 'id' | 'status' | 'frozenReason'>) => ({
  agentId: agent.id,
  status: agent.status,
  ...(agent.frozenReason ? { reason: truncateText(agent.frozenReason) } : {}),
})

/** Also one that is being deleted. */
export const lockAnyAgent = (em: EntityManager, id: string): Promise<Agent | null> =>
  em.findOne(Agent, { id }, FOR_UPDATE)

/** The agents of other records, in any status and in the order of their ids. */
export const lockAgentsWhere = (em: EntityManager, condition: SqlCondition): Promise<Agent[]> =>
  em.find(Agent, condition, FOR_UPDATE_BY_ID)

export async function lockAgent(em: EntityManager, id: string): Promise<Agent | null> {
  const agent = await lockAnyAgent(em, id)
  return agent && agentMachine.can(agent.status, 'deleting') ? agent : null
}

export function unfreezeAgent(agent: Agent): boolean {
  if (!agentMachine.move(agent, 'active')) return false
  Object.assign(agent, { frozenReason: null, frozenByAlertId: null })
  return true
}

export type FrozenAgent = Pick<Agent, 'id' | 'status' | 'frozenReason' | 'frozenByAlertId' | 'updatedAt'>

/**
 * Freezes an agent that a group commit has locked, so that later requests of the batch see it frozen.
 * Undefined if the agent cannot be frozen.
 */
export function freezeAgent(
  agent: Pick<Agent, 'id' | 'status'>,
  { reason, alertId }: { readonly reason: string; readonly alertId: string },
  now: Date,
): FrozenAgent | undefined {
  const { id } = agent
  return agentMachine.move(agent, 'frozen')
    ? { id, status: agent.status, frozenReason: reason, frozenByAlertId: alertId, updatedAt: now }
    : undefined
}

export const updateFrozenAgents = updateOf(tableOf(Agent), [
  'status',
  'frozenReason',
  'frozenByAlertId',
  'updatedAt',
])
