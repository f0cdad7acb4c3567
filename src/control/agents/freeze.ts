import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/hot-table.ts'
import { Agent, agentMachine } from './agent.ts'

/** The changed columns of an agent that a group commit freezes. */
export type FrozenAgent = Pick<Agent, 'id' | 'status' | 'frozenReason' | 'frozenByAlertId' | 'updatedAt'>

/**
 * Freezes an agent that a group commit has locked, so that later requests of the batch see it frozen. Undefined if the
 * agent cannot be frozen.
 */
export function freeze(
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
