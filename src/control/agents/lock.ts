import type { EntityManager } from '@mikro-orm/postgresql'
import { lock } from '../../kernel/database/entity.ts'
import { Agent, agentMachine } from './agent.ts'

/** An agent that can still act or be changed, locked until the transaction ends; none that is on its way out. */
export async function lockAgent(em: EntityManager, id: string): Promise<Agent | null> {
  const agent = await lock(em, Agent, id)
  return agent && isThere(agent) ? agent : null
}

const isThere = ({ status }: Agent): boolean => agentMachine.can(status, 'deleting')

/** False where it is not frozen. */
export function unfreeze(agent: Agent): boolean {
  const isFree = agentMachine.move(agent, 'active')
  if (isFree) Object.assign(agent, { frozenReason: null, frozenByAlertId: null })
  return isFree
}
