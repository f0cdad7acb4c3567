import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { RiskAlert } from './alert.ts'

const DELETE_PROFILE = 'delete from risk_profiles where (owner_id, mode, agent_id) = ($1, $2, $3)'

const ADD_KNOWN_MERCHANT = `
insert into risk_merchants (owner_id, mode, agent_id, merchant) values ($1, $2, $3, $4) on conflict do nothing`

/**
 * Forgets what is usual for an agent and makes the alert's merchant a known one, so that the same spend does not freeze
 * the agent again. The caller holds the lock of the agent.
 */
export async function resetProfile(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { agentId, merchantKey }: Pick<RiskAlert, 'agentId' | 'merchantKey'>,
): Promise<void> {
  await Promise.all([
    sql(DELETE_PROFILE, [ownerId, mode, agentId]),
    sql(ADD_KNOWN_MERCHANT, [ownerId, mode, agentId, merchantKey]),
  ])
}
