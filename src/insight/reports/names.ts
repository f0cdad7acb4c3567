import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'

const OF_AGENTS = 'select id, name from agents where owner_id = $1 and mode = $2 and id = any($3::text[])'

/** The names of agents, deleted ones too: what they have spent stays theirs. */
export async function namesOfAgents(
  { sql, tenant: { ownerId, mode } }: { readonly sql: Sql; readonly tenant: Tenant },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }>(OF_AGENTS, [ownerId, mode, ids])
  return new Map(rows.map(({ id, name }) => [id, name]))
}
