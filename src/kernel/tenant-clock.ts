import type { Tenant } from './context.ts'
import type { Sql } from './database.ts'

const OFFSET = 'select offset_ms::float8 as ms from tenant_clocks where owner_id = $1 and mode = $2'

/** How far the owner has moved the clock of test mode. */
export const offsetOf = async (sql: Sql, { ownerId, mode }: Tenant): Promise<number> =>
  (await sql<{ ms: number }>(OFFSET, [ownerId, mode]))[0]?.ms ?? 0

const SET = `
insert into tenant_clocks as kept (owner_id, mode, offset_ms) values ($1, $2, $3)
on conflict (owner_id, mode) do update set offset_ms = greatest(kept.offset_ms, excluded.offset_ms)
returning offset_ms::float8 as ms`

/** Forward only: what has happened stays in the past. */
export const moveOffset = async (sql: Sql, { ownerId, mode }: Tenant, toMs: number): Promise<void> => {
  await sql(SET, [ownerId, mode, toMs])
}
