import { days } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import type { Sql } from '../contract/sql.ts'
import { withDatabaseRetries } from './retry.ts'

const OFFSET = 'select offset_ms::float8 as ms from tenant_clocks where owner_id = $1 and mode = $2'

/** How far the tenant's clock is ahead of real time. */
export const readClockOffset = async (sql: Sql, { ownerId, mode }: Tenant): Promise<number> =>
  (await sql<{ ms: number }>(OFFSET, [ownerId, mode]))[0]?.ms ?? 0

const AIM_AHEAD = `
select aim_ms::float8 as ms from tenant_clocks where owner_id = $1 and mode = $2 and aim_ms > offset_ms`

/** The offset to which the clock is being moved; null where it has arrived. */
export const readClockAim = async (sql: Sql, { ownerId, mode }: Tenant): Promise<number | null> =>
  (await sql<{ ms: number }>(AIM_AHEAD, [ownerId, mode]))[0]?.ms ?? null

/** Moves the due times of webhook deliveries along, in the same transaction. */
const SET = `
with moved as (
  insert into tenant_clocks as stored (owner_id, mode, offset_ms) values ($1, $2, $3)
  on conflict (owner_id, mode) do update set offset_ms = greatest(stored.offset_ms, excluded.offset_ms)
  returning new.owner_id, new.mode, new.offset_ms - coalesce(old.offset_ms, 0) as by_ms
)
select move_deliveries(owner_id, mode, by_ms::float8) from moved where by_ms > 0`

/** Never backward, and never behind real time, which may have passed a deadline on the way. */
export const moveClockOffset = async (sql: Sql, { ownerId, mode }: Tenant, toMs: number): Promise<void> => {
  await withDatabaseRetries(() => sql(SET, [ownerId, mode, Math.max(0, Math.round(toMs))]))
}

/** A hundred years, so that every deadline can still be written as a date. */
const FURTHEST = days(365 * 100)

const AIM = `
insert into tenant_clocks as stored (owner_id, mode, offset_ms, aim_ms) values ($1, $2, 0, $3)
on conflict (owner_id, mode) do update set aim_ms = greatest(stored.aim_ms, stored.offset_ms) + excluded.aim_ms
where greatest(stored.aim_ms, stored.offset_ms) + excluded.aim_ms <= ${FURTHEST}
returning aim_ms::float8 as ms`

/**
 * Reserves a move of the clock by `byMs` and returns the offset to move it to. Concurrent moves add up.
 * Undefined if that is beyond `FURTHEST`.
 */
export async function reserveClockMove(
  sql: Sql,
  { ownerId, mode }: Tenant,
  byMs: number,
): Promise<number | undefined> {
  const [row] = await sql<{ ms: number }>(AIM, [ownerId, mode, byMs])
  return row?.ms
}
