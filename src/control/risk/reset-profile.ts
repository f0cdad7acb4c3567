import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { RiskAlert } from './alert.ts'

const FORGET = 'delete from risk_profiles where (owner_id, mode, agent_id) = ($1, $2, $3)'

const MEET = `
insert into risk_merchants (owner_id, mode, agent_id, merchant) values ($1, $2, $3, $4) on conflict do nothing`

/** A person vouches for what an agent was frozen over: the same spend is not unusual any more. The agent is locked. */
export async function forget(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { agentId, merchantKey }: Pick<RiskAlert, 'agentId' | 'merchantKey'>,
): Promise<void> {
  await sql(FORGET, [ownerId, mode, agentId])
  await sql(MEET, [ownerId, mode, agentId, merchantKey])
}
