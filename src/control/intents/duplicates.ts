import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { after } from '../../values/clock.ts'
import { DUPLICATE_WINDOW_MS } from './intent.ts'

/** The fingerprint that an intent of an agent would have. */
interface AgentFingerprint {
  readonly agentId: string
  readonly fingerprint: string
}

/**
 * The condition is written as in the index on fingerprints (stored as `likeness`). An intent that was denied, cancelled
 * or has expired has no duplicate.
 */
const LATEST = `
select w.likeness as fingerprint, latest.id
from unnest($1::text[], $2::text[]) as w (agent_id, likeness)
cross join lateral (
  select i.id from intents i
  where i.owner_id = $4 and i.mode = $5 and i.agent_id = w.agent_id and i.likeness = w.likeness and i.created_at > $3
    and i.status in ('created', 'approved', 'completed')
  order by i.created_at desc limit 1) as latest`

/** Finds the latest recent intent with each fingerprint. The caller has locked the agents. */
export async function findDuplicates(
  sql: Sql,
  { tenant: { ownerId, mode }, now }: TenantNow,
  fingerprints: readonly AgentFingerprint[],
): Promise<Map<string, string>> {
  if (fingerprints.length === 0) return new Map()
  const unique = [...new Map(fingerprints.map(row => [row.fingerprint, row])).values()]
  const rows = await sql<Row & { fingerprint: string; id: string }>(LATEST, [
    unique.map(({ agentId }) => agentId),
    unique.map(({ fingerprint }) => fingerprint),
    after(now, -DUPLICATE_WINDOW_MS),
    ownerId,
    mode,
  ])
  return new Map(rows.map(({ fingerprint, id }) => [fingerprint, id]))
}
