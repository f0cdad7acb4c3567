import type { EntityManager } from '@mikro-orm/postgresql'
import { days } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import type { Sql } from '../contract/sql.ts'
import { retrying } from './retry.ts'

const OFFSET = 'select offset_ms::float8 as ms from tenant_clocks where owner_id = $1 and mode = $2'

/** How far the owner has moved the clock of test mode. */
export const offsetOf = async (sql: Sql, { ownerId, mode }: Tenant): Promise<number> =>
  (await sql<{ ms: number }>(OFFSET, [ownerId, mode]))[0]?.ms ?? 0

/** What webhooks wait for comes nearer in the same transaction. */
const SET = `
with moved as (
  insert into tenant_clocks as kept (owner_id, mode, offset_ms) values ($1, $2, $3)
  on conflict (owner_id, mode) do update set offset_ms = greatest(kept.offset_ms, excluded.offset_ms)
  returning new.owner_id, new.mode, new.offset_ms - coalesce(old.offset_ms, 0) as by_ms
)
select move_deliveries(owner_id, mode, by_ms::float8) from moved where by_ms > 0`

/** Forward only: what has happened stays in the past. */
export const moveOffset = async (sql: Sql, { ownerId, mode }: Tenant, toMs: number): Promise<void> => {
  await retrying(() => sql(SET, [ownerId, mode, Math.round(toMs)]))
}

/** A date of every deadline can still be written. */
const FURTHEST = days(365 * 100)

const AIM = `
insert into tenant_clocks as kept (owner_id, mode, offset_ms, aim_ms) values (?, ?, 0, ?)
on conflict (owner_id, mode) do update set aim_ms = greatest(kept.aim_ms, kept.offset_ms) + excluded.aim_ms
where greatest(kept.aim_ms, kept.offset_ms) + excluded.aim_ms <= ${FURTHEST}
returning aim_ms::float8 as ms`

/**
 * Where the clock will stand when it has been moved by so much more, whoever else is moving it: each adds to what the
 * ones before have asked for. Undefined where that is too far.
 */
export async function aim(
  em: EntityManager,
  { ownerId, mode }: Tenant,
  byMs: number,
): Promise<number | undefined> {
  const [row] = await em.execute<{ ms: number }[]>(AIM, [ownerId, mode, byMs])
  return row?.ms
}
