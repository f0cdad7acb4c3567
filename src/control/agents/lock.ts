import type { Records } from '../../kernel/contract/records.ts'
import { Agent, agentMachine } from './agent.ts'

/** Locks an agent until the transaction ends; null if there is none, or if it is being deleted or deleted. */
export async function lockAgent(records: Records, id: string): Promise<Agent | null> {
  const agent = await records.lock(Agent, id)
  return agent && agentMachine.can(agent.status, 'deleting') ? agent : null
}

/** Makes a frozen agent active again; false if it is not frozen. */
export function unfreeze(agent: Agent): boolean {
  if (!agentMachine.move(agent, 'active')) return false
  Object.assign(agent, { frozenReason: null, frozenByAlertId: null })
  return true
}
