import type { EntityManager } from '@mikro-orm/postgresql'
import type { Tenant } from './context.ts'
import type { Row, Sql } from './database.ts'
import type { Euros } from './money.ts'

export interface TimelineEntry {
  readonly at: Date
  readonly event: string
  readonly actorType: string
  readonly actorId: string | null
  readonly requestId: string
}

const TIMELINE = `
select coalesce(e.created_at, a.at) as at, a.event, a.actor_type as "actorType", a.actor_id as "actorId",
  a.request_id as "requestId"
from audit_entries a left join events e on e.id = a.event_id
where a.owner_id = ? and a.mode = ? and a.resource_id = ? order by a.id limit 500`

/** What happened to a record, the oldest first: who did it as the audit trail has it, when in the tenant's time. */
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

export interface RunEntry extends TimelineEntry {
  readonly id: string
  readonly action: string
  readonly resourceId: string
  /** What the event says of money. */
  readonly amountEuros: Euros | null
}

const OF_RUN = `
select a.id, coalesce(e.created_at, a.at) as at, a.event, a.action, a.resource_id as "resourceId",
  ((e.data ->> 'amountEuros')::numeric * 100)::bigint as "amountEuros", a.actor_type as "actorType",
  a.actor_id as "actorId", a.request_id as "requestId"
from audit_entries a left join events e on e.id = a.event_id
where (a.owner_id, a.mode, a.run_id) = ($1, $2, $3) and a.id > $4 order by a.id limit $5`

/** What belongs to a run, the oldest first: so many at most that come after this id. */
export const timelineOfRun = (
  sql: Sql,
  { ownerId, mode, id }: Tenant & { id: string },
  after: string | undefined,
  most: number,
): Promise<RunEntry[]> => sql<RunEntry & Row>(OF_RUN, [ownerId, mode, id, after ?? '', most])
