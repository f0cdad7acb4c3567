import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Records } from '../../kernel/contract/records.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
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

const LOCK = `
select id from agents where owner_id = $1 and mode = $2 and id = any($3::text[]) order by id for no key update`

/** Locks agents by their ids, where only what they have paid changes, and nothing of their rules matters. */
export async function lockAgents(sql: Sql, { ownerId, mode }: Tenant, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await sql(LOCK, [ownerId, mode, [...new Set(ids)]])
}
