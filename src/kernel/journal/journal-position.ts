import type { Tenant } from '../contract/actor.ts'
import type { JournalPosition, StreamedEvent } from '../contract/follow.ts'
import type { Sql } from '../contract/sql.ts'
import { type Database, sqlOn } from '../database/prepared-sql.ts'
import { answerInTime } from '../database/replica.ts'

export interface JournalReading {
  readonly events: StreamedEvent[]
  /**
   * Every transaction below it has ended, so no event can appear there, also after a crash of PostgreSQL. No event at or above
   * it was read.
   */
  readonly horizon: bigint
  readonly newest: bigint
  readonly isHeldBack: boolean
}

export const isLaterPosition = (one: JournalPosition, other: JournalPosition): boolean =>
  one.writtenIn === other.writtenIn ? one.id > other.id : one.writtenIn > other.writtenIn

/** The position before all events of transactions that have not ended. */
export const positionAtHorizon = (writtenIn: bigint): JournalPosition => ({ writtenIn, id: '' })

/**
 * One statement has one snapshot: everything below its oldest open transaction is complete in it.
 * Transactions of other databases write no event; they are left out where their database can be seen, so that
 * a neighbour's long transaction delays nothing. One that ends meanwhile is not seen, so the horizon may be
 * lower than before: `$1` is what is known already. A cluster restored from a dump adds to its transaction
 * numbers, see `continue_journal`. The horizon lies just behind the newest event below it: a crash of PostgreSQL, or a standby that
 * takes over, loses the last transactions that did not wait for the disk or were rolled back, and their numbers are given again.
 * Each event waited for the disk, so no number below it is.
 */
const ENDED = `
select newest, greatest($1::bigint, (
  select written_in + 1 from events where written_in < oldest_open order by written_in desc limit 1)) as horizon
from (
  select pg_snapshot_xmax(pg_current_snapshot())::text::bigint + added as newest,
    greatest($1::bigint, added + coalesce((
      select min(open.xid::text::bigint) from pg_snapshot_xip(pg_current_snapshot()) as open(xid)
      where not exists (
        select from pg_stat_get_activity(null) one where one.backend_xid = open.xid::xid
          and one.datid <> (select oid from pg_database where datname = current_database()))
    ), pg_snapshot_xmax(pg_current_snapshot())::text::bigint)) as oldest_open
  from journal_origin) as transactions`

const COLUMNS = `id, owner_id as "ownerId", mode, agent_id as "agentId", event, data, request_id as "requestId",
    run_id as "runId", created_at as "createdAt", written_in as "writtenIn"`

export const EVENTS_OF_OWNERS_SQL = `
with ended as materialized (${ENDED})
select ended.*, exists (
    select from events where written_in >= ended.horizon and owner_id = any($4::text[])
  ) as "isHeldBack", followed.*
from ended left join lateral (
  select ${COLUMNS} from events
  where (written_in, id) > ($2::bigint, $3::text) and written_in < ended.horizon and owner_id = any($4::text[])
  order by written_in, id limit $5
) followed on true`

export const EVENTS_OF_TENANT_SQL = `
with ended as materialized (${ENDED})
select ended.*, false as "isHeldBack", followed.*
from ended left join lateral (
  select ${COLUMNS} from tenant_events_after($4, $5, $2, $3, ended.horizon, '{}', $6)
) followed on true`

interface ReadRow extends StreamedEvent, Record<string, unknown> {
  readonly horizon: bigint
  readonly newest: bigint
  readonly isHeldBack: boolean
}

const readingOf = (rows: readonly ReadRow[]): JournalReading => ({
  events: rows.filter(({ id }) => id !== null),
  horizon: rows[0]?.horizon ?? 0n,
  newest: rows[0]?.newest ?? 0n,
  isHeldBack: rows[0]?.isHeldBack ?? false,
})

export interface JournalReadStart {
  readonly after: JournalPosition
  readonly most: number
  readonly known: bigint
}

export const readEventsOfOwners = async (
  sql: Sql,
  { after, most, known }: JournalReadStart,
  owners: readonly string[],
): Promise<JournalReading> =>
  readingOf(await sql<ReadRow>(EVENTS_OF_OWNERS_SQL, [known, after.writtenIn, after.id, owners, most]))

export const readEventsOfTenant = async (
  sql: Sql,
  { after, most, known }: JournalReadStart,
  { ownerId, mode }: Tenant,
): Promise<JournalReading> =>
  readingOf(await sql<ReadRow>(EVENTS_OF_TENANT_SQL, [known, after.writtenIn, after.id, ownerId, mode, most]))

/** The position from which everything is still to come; `known` is an earlier one. */
export async function readJournalHorizon(sql: Sql, known = 0n): Promise<JournalPosition> {
  const [row] = await sql<{ horizon: bigint }>(ENDED, [known])
  return positionAtHorizon(row?.horizon ?? known)
}

export const EVENT_POSITION_SQL = `
with ended as materialized (${ENDED})
select ended.horizon, found."writtenIn" from ended left join lateral (
  select written_in as "writtenIn" from events
  where (owner_id, mode, id) = ($2, $3, $4) and ($5::text is null or agent_id = $5)
    and ($6::text is null or (data ->> 'delegationId') = $6) limit 1
) found on true`

/**
 * SQL: for how many seconds the first event behind a position has waited. It reads one entry of the index by commit, which
 * PostgreSQL uses only where a plain comparison shows that `written_in` is not null.
 */
export const secondsBehindSql = (position: string): string => `
select coalesce((
  select greatest(0, extract(epoch from clock_timestamp() - e.recorded_at)) from events e
  where (e.written_in, e.id) > (${position}) and e.written_in < 9223372036854775807
  order by e.written_in, e.id limit 1), 0)::float8 as seconds`

export const readSecondsBehind = async (
  sql: Sql,
  position: string,
  values: readonly unknown[] = [],
): Promise<number> => (await sql<{ seconds: number }>(secondsBehindSql(position), values))[0]?.seconds ?? 0

export const NEWEST_EVENT_SQL = `
select written_in as "writtenIn", id from events where written_in >= 0 order by written_in desc, id desc limit 1`

/** For how long the primary's first event has waited that the replica does not have. */
export async function replicaBehindSeconds(primary: Sql, { pool }: Database): Promise<number> {
  const [newest] = await answerInTime(sqlOn(pool)<{ writtenIn: bigint; id: string }>(NEWEST_EVENT_SQL))
  return readSecondsBehind(primary, '$1::bigint, $2::text', [newest?.writtenIn ?? 0n, newest?.id ?? ''])
}

interface EventViewer {
  readonly tenant: Tenant
  readonly agentId: string | null
  readonly delegationId: string | null
}

/**
 * The position after an event that the caller can see; undefined where there is none. An event above the
 * horizon was read elsewhere, and others may still be committed before it: the position is then the horizon.
 */
export async function positionAfterEvent(
  sql: Sql,
  id: string,
  { tenant, agentId, delegationId }: EventViewer,
): Promise<JournalPosition | undefined> {
  const asked = [0, tenant.ownerId, tenant.mode, id, agentId, delegationId]
  const [row] = await sql<{ horizon: bigint; writtenIn: bigint | null }>(EVENT_POSITION_SQL, asked)
  if (!row || row.writtenIn === null) return undefined
  return row.writtenIn < row.horizon ? { writtenIn: row.writtenIn, id } : positionAtHorizon(row.horizon)
}
