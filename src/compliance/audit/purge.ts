import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { TILE_SIZE } from '../../trail/index.ts'
import { clock, days } from '../../values/clock.ts'
import { IDS_IN_A_ROW, newId } from '../../values/ids.ts'
import type { auditApi } from './api.ts'
import { latestCheckpoint } from './checkpoint.ts'

/** The rest of the last call comes to it: 50,000 in all at most. */
const MOST = 50_000 - IDS_IN_A_ROW

const PURGE = 'select purge_audit($1, $2, $3, $4, $5, $6)::float8 as size'

/** Entries have real times, so the retention counts in real time. The database checks again what may be deleted. */
export const purgeTrail: HandlerOf<typeof auditApi.purge> = async ({ body }, context) => {
  const { sql, settings, switchTenant, emit, refuse } = context
  const { ownerId, mode, before } = body
  const tenant = { ownerId, mode }
  switchTenant(tenant)
  const { auditRetentionDays } = settings
  if (before.getTime() > clock.real().getTime() - days(auditRetentionDays)) return refuse('too_young')
  const checkpoint = await latestCheckpoint(sql, tenant)
  if (!checkpoint) return refuse('trail_not_found')
  const id = newId('purge')
  const values = [ownerId, mode, before, auditRetentionDays, MOST, id]
  const [{ size } = { size: 0 }] = await sql<{ size: number }>(PURGE, values)
  // Concurrent purges wait for each other, so only now is the size before this one known.
  const purged = size - (await purgedSizeBefore(sql, tenant, id))
  emit('audit.purged', { purgeId: id, before, purged, size, checkpointId: checkpoint.id })
  return {
    purgeId: id,
    ownerId,
    mode,
    before,
    purged,
    size,
    hasMore: purged >= MOST,
    checkpoint: checkpoint.note,
  }
}

const SIZE = `
select coalesce(max(size), 0)::float8 as size from audit_purges where owner_id = $1 and mode = $2 and id <> $3`

const purgedSizeBefore = async (sql: Sql, { ownerId, mode }: Tenant, purgeId: string): Promise<number> =>
  (await sql<{ size: number }>(SIZE, [ownerId, mode, purgeId]))[0]?.size ?? 0

export const purgedTreeSize = (sql: Sql, tenant: Tenant): Promise<number> => purgedSizeBefore(sql, tenant, '')

const PURGED_LEAVES = `
select coalesce(
  (select hashes from audit_tiles where owner_id = $1 and mode = $2 and level = 0 and index = $3),
  (select edge from audit_purges where owner_id = $1 and mode = $2 and size / ${TILE_SIZE} = $3
    order by size desc limit 1), '') as hashes`

export const readPurgedLeaves = async (sql: Sql, { ownerId, mode }: Tenant, first: number): Promise<Buffer> =>
  (await sql<{ hashes: Buffer }>(PURGED_LEAVES, [ownerId, mode, first / TILE_SIZE]))[0]?.hashes ??
  Buffer.alloc(0)

const IS_RECORDED = `
select p.size::float8 as size, exists (
  select from events e where e.owner_id = $1 and e.mode = $2 and e.event = 'audit.purged'
    and e.data ->> 'purgeId' = p.id and e.data ->> 'size' = p.size::text) as "isRecorded"
from audit_purges p where p.owner_id = $1 and p.mode = $2 order by p.size desc limit 1`

/**
 * Whether the trail contains the entry of its last purge, which is too young to be purged itself. If not,
 * entries were deleted without a purge.
 */
export async function isPurgeRecorded(sql: Sql, { ownerId, mode }: Tenant): Promise<boolean> {
  const [last] = await sql<{ isRecorded: boolean }>(IS_RECORDED, [ownerId, mode])
  return last?.isRecorded ?? true
}
