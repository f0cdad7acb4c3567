import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Commitments } from '../../trail/index.ts'
import { EVENT_COLUMNS, type EventRow } from './trail-rows.ts'

/** A sealed entry as it is read; without its seal it is not sealed yet. */
export interface FoundEntry extends EventRow, Commitments {
  readonly position: bigint | null
  readonly leaf: Buffer
}

/**
 * An entry has the id of its event with a prefix of its own. Those that were copied from the table before have kept theirs:
 * they are found by it among the events of about the same time.
 */
const ENTRY = `
select ${EVENT_COLUMNS}, s.position, s.leaf, s.salts, s.commitments
from events e left join audit_seals s on (s.owner_id, s.mode, s.event_id) = (e.owner_id, e.mode, e.id)
where e.owner_id = $1 and e.mode = $2 and e.id = coalesce(
  (select id from events where owner_id = $1 and mode = $2 and id = $3 and audit_id is null),
  (select id from events where owner_id = $1 and mode = $2 and id >= $5 and id < $6 and audit_id = $4))`

/** How many digits of an id tell its time, and how many of them half a minute takes. */
const [TIME_END, WITHIN] = [10, 3]

export async function findEntry(
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<FoundEntry | undefined> {
  const [prefix, digits = ''] = id.split('_')
  if (prefix !== 'audit' || digits === '') return undefined
  const around = digits.slice(0, TIME_END - WITHIN)
  const [row] = await sql<FoundEntry>(ENTRY, [
    ownerId,
    mode,
    `event_${digits}`,
    id,
    `event_${around}`,
    `event_${around}~`,
  ])
  return row
}
