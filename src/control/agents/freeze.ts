import { recordColumns, type Table, updateOf } from '../../kernel/rows.ts'
import { type Agent, agentMachine } from './agent.ts'

/** An agent that a group commit has frozen. */
export type Frozen = Pick<Agent, 'id' | 'status' | 'frozenReason' | 'updatedAt'>

const table: Table<Frozen> = {
  name: 'agents',
  columns: {
    id: recordColumns.id,
    status: ['status', 'text'],
    frozenReason: ['frozen_reason', 'text'],
    updatedAt: recordColumns.updatedAt,
  },
}

/** For an agent that a group commit holds: whoever comes after it in the same batch sees it frozen already. */
export function freeze(agent: Pick<Agent, 'id' | 'status'>, reason: string, now: Date): Frozen | undefined {
  const { id } = agent
  return agentMachine.move(agent, 'frozen')
    ? { id, status: agent.status, frozenReason: reason, updatedAt: now }
    : undefined
}

export const updateFrozen = updateOf(table, ['status', 'frozenReason', 'updatedAt'])
