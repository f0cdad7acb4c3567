import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Commitments, parseExactly, type TrailEntry } from '../../trail/index.ts'

/** Every column of an event, as each is part of its leaf. */
export const AUDIT_EVENT_COLUMNS = `e.id, e.owner_id as "ownerId", e.mode, e.agent_id as "agentId", e.event, e.data::text as data,
  e.request_id as "requestId", e.run_id as "runId", e.created_at as "createdAt", e.actor_type as "actorType",
  e.actor_id as "actorId", e.action, e.outcome, e.resource_id as "resourceId", e.address, e.recorded_at as at,
  e.audit_id as "auditId", e.written_in::text as "writtenIn"`

export interface AuditEventRow extends Tenant, Record<string, unknown> {
  readonly id: string
  readonly mode: Mode
  readonly agentId: string | null
  readonly event: string
  readonly data: string
  readonly requestId: string
  readonly runId: string | null
  readonly createdAt: Date
  readonly actorType: string
  readonly actorId: string | null
  readonly action: string
  readonly outcome: string
  readonly resourceId: string
  readonly address: string | null
  readonly at: Date
  readonly auditId: string | null
  readonly writtenIn: string
}

export const trailEntryFromEvent = (row: AuditEventRow): TrailEntry => ({
  action: row.action,
  actorId: row.actorId,
  actorType: row.actorType,
  address: row.address,
  agentId: row.agentId,
  at: row.at.toISOString(),
  auditId: row.auditId,
  createdAt: row.createdAt.toISOString(),
  data: parseExactly(row.data) as TrailEntry['data'],
  event: row.event,
  eventId: row.id,
  id: row.auditId ?? row.id.replace('event', 'audit'),
  mode: row.mode,
  outcome: row.outcome,
  ownerId: row.ownerId,
  requestId: row.requestId,
  resourceId: row.resourceId,
  runId: row.runId,
  writtenIn: row.writtenIn,
})

export interface StoredTrailEntry extends AuditEventRow, Commitments {
  readonly position: bigint | null
  readonly leaf: Buffer
}

/**
 * SQL: the position and the seal of the event `e`. Only ranges of late events lie between the one that holds
 * it and the first that ends behind it.
 */
const SEAL_OF_EVENT = `
  select s.position + one.n - 1 as position, one.leaf, one.salts, one.commitments
  from (
    select * from audit_seals found
    where found.owner_id = e.owner_id and found.mode = e.mode and found.last_written_in >= e.written_in
      and found.first_written_in <= e.written_in and e.id = any(found.event_ids)
    order by found.last_written_in limit 1
  ) s
  cross join lateral unnest(s.event_ids, s.leaves, s.salts, s.commitments) with ordinality
    as one(event_id, leaf, salts, commitments, n)
  where one.event_id = e.id`

/**
 * An entry has the id of its event with its own prefix. Entries copied from the former table kept their ids,
 * and are found among the events of about the same time.
 */
const ENTRY = `
select ${AUDIT_EVENT_COLUMNS}, s.position, s.leaf, s.salts, s.commitments
from events e left join lateral (${SEAL_OF_EVENT}) s on true
where e.owner_id = $1 and e.mode = $2 and e.id = coalesce(
  (select id from events where owner_id = $1 and mode = $2 and id = $3 and audit_id is null),
  (select id from events where owner_id = $1 and mode = $2 and id >= $5 and id < $6 and audit_id = $4))`

/** How many digits of an id encode its time, and how many of the last ones span half a minute. */
const [TIME_END, WITHIN] = [10, 3]

export async function findTrailEntry(
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<StoredTrailEntry | undefined> {
  const [prefix, digits = ''] = id.split('_')
  if (prefix !== 'audit' || digits === '') return undefined
  const around = digits.slice(0, TIME_END - WITHIN)
  const [row] = await sql<StoredTrailEntry>(ENTRY, [
    ownerId,
    mode,
    `event_${digits}`,
    id,
    `event_${around}`,
    `event_${around}~`,
  ])
  return row
}

/** Reads each page while the previous one is processed, so that the database and the service work concurrently. */
export async function* readAhead<T>(
  begins: Iterable<number>,
  read: (begin: number) => Promise<T>,
): AsyncGenerator<T> {
  let page: Promise<T> | undefined
  for (const begin of begins) {
    const next = read(begin)
    // A consumer that stops before this page does not need its error.
    next.catch(() => undefined)
    if (page) yield await page
    page = next
  }
  if (page) yield await page
}

export const pageStarts = (first: number, end: number, page: number): number[] =>
  Array.from({ length: Math.ceil(Math.max(end - first, 0) / page) }, (_, n) => first + n * page)
