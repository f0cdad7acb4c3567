import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/hot-table.ts'
import { Agent, agentMachine } from './agent.ts'

/** An agent that a group commit has frozen. */
export type Frozen = Pick<Agent, 'id' | 'status' | 'frozenReason' | 'frozenByAlertId' | 'updatedAt'>

/** For an agent that a group commit holds: whoever comes after it in the same batch sees it frozen already. */
export function freeze(
  agent: Pick<Agent, 'id' | 'status'>,
  { reason, alertId }: { readonly reason: string; readonly alertId: string },
  now: Date,
): Frozen | undefined {
  const { id } = agent
  return agentMachine.move(agent, 'frozen')
    ? { id, status: agent.status, frozenReason: reason, frozenByAlertId: alertId, updatedAt: now }
    : undefined
}

export const updateFrozen = updateOf(tableOf(Agent), [
  'status',
  'frozenReason',
  'frozenByAlertId',
  'updatedAt',
])
