import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'

const OF_INTENTS = `
select w.id as "intentId", p.margin as "marginPercent" from unnest($3::text[]) as w (id)
cross join lateral (
  select agent_id from intents i where (i.owner_id, i.mode, i.id) = ($1, $2, w.id) limit 1) as i
cross join lateral (
  select conversion_margin_percent as margin from policies one
  where (one.owner_id, one.mode, one.agent_id) = ($1, $2, i.agent_id) and one.agent_id is not null and one.deleted_at is null
  limit 1) as p
where p.margin is not null`

type MarginRow = Row & { readonly intentId: string; readonly marginPercent: number }

/** The margins that the policies of these intents' agents set, by intent. */
export async function conversionMarginsOfIntents(
  intentIds: readonly string[],
  { sql, tenant: { ownerId, mode } }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<MarginRow>(OF_INTENTS, [ownerId, mode, [...new Set(intentIds)]])
  return new Map(rows.map(({ intentId, marginPercent }) => [intentId, marginPercent]))
}
