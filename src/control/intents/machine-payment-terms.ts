import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ChargeMethod } from '../../mpp/index.ts'

const OF_INTENTS = `
select w.id as "intentId", p.margin as "marginPercent", p.methods from unnest($3::text[]) as w (id)
cross join lateral (
  select agent_id from intents i where (i.owner_id, i.mode, i.id) = ($1, $2, w.id) limit 1) as i
cross join lateral (
  select conversion_margin_percent as margin, mpp_methods as methods from policies one
  where (one.owner_id, one.mode, one.agent_id) = ($1, $2, i.agent_id) and one.agent_id is not null and one.deleted_at is null
  limit 1) as p
where p.margin is not null or p.methods <> '{}'`

interface MachinePaymentTerms {
  /** Null for the default. */
  readonly marginPercent: number | null
  /** Empty for the default. */
  readonly methods: readonly ChargeMethod[]
}

/** What the policies of these intents' agents say about machine payments, by intent, where they differ from the defaults. */
export async function machinePaymentTermsOfIntents(
  intentIds: readonly string[],
  { sql, tenant: { ownerId, mode } }: { readonly sql: Sql; readonly tenant: Tenant },
): Promise<ReadonlyMap<string, MachinePaymentTerms>> {
  const ids = [...new Set(intentIds)]
  const rows = await sql<Row & MachinePaymentTerms & { intentId: string }>(OF_INTENTS, [ownerId, mode, ids])
  return new Map(rows.map(({ intentId, ...terms }) => [intentId, terms]))
}
