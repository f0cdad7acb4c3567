import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { clock, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { auditApi } from './api.ts'
import { newestCheckpoint } from './checkpoint.ts'
import { purgedSizeBefore } from './purged.ts'

/** How many entries go in one transaction. */
const MOST = 50_000

const PURGE = 'select purge_audit($1, $2, $3, $4, $5, $6)::float8 as size'

/** Entries have real times, so the retention is counted in real time. What may go the database decides again. */
export const purgeTrail: HandlerOf<typeof auditApi.purge> = async ({ body }, context) => {
  const { sql, ports, actFor, emit, refuse } = context
  const { ownerId, mode, before } = body
  const tenant = { ownerId, mode }
  actFor(tenant)
  const { auditRetentionDays } = ports
  if (before.getTime() > clock.real().getTime() - days(auditRetentionDays)) return refuse('too_young')
  const checkpoint = await newestCheckpoint(sql, tenant)
  if (!checkpoint) return refuse('trail_not_found')
  const id = newId('purge')
  const values = [ownerId, mode, before, auditRetentionDays, MOST, id]
  const [{ size } = { size: 0 }] = await sql<{ size: number }>(PURGE, values)
  // Two at once wait for each other: only now it is known what was there for this one.
  const purged = size - (await purgedSizeBefore(sql, tenant, id))
  emit('audit.purged', { purgeId: id, before, purged, size, checkpointId: checkpoint.id })
  return {
    purgeId: id,
    ownerId,
    mode,
    before,
    purged,
    size,
    hasMore: purged === MOST,
    checkpoint: checkpoint.note,
  }
}
