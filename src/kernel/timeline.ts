import type { EntityManager } from '@mikro-orm/postgresql'
import type { Tenant } from './context.ts'

export interface TimelineEntry {
  readonly at: Date
  readonly event: string
  readonly actorType: string
  readonly actorId: string | null
  readonly requestId: string
}

const TIMELINE = `
select at, event, actor_type as "actorType", actor_id as "actorId", request_id as "requestId"
from audit_entries where owner_id = ? and mode = ? and resource_id = ? order by id limit 500`

/** What happened to a record, the oldest first, as the audit trail has it. */
export async function timelineOf(
  em: EntityManager,
  record: Tenant & { id: string },
): Promise<TimelineEntry[]> {
  const rows = await em.execute<(TimelineEntry & { at: string })[]>(TIMELINE, [
    record.ownerId,
    record.mode,
    record.id,
  ])
  return rows.map(row => ({ ...row, at: new Date(row.at) }))
}
