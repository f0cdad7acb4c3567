import type { Sql } from '../../kernel/contract/sql.ts'
import { readSecondsBehind } from '../../kernel/journal/journal-position.ts'
import { AUDIT_EVENT_COLUMNS, type AuditEventRow } from './entries.ts'

export interface SealingPosition {
  readonly writtenIn: bigint
  readonly id: string
  /** Earlier transactions that were still open when sealing passed this position. */
  readonly open: readonly bigint[]
}

/** A concurrent sealer holds the row; then there is nothing to do here. */
const LOCK = `
select written_in as "writtenIn", id, open::text[] as open from audit_sealing for update skip locked`

interface LockedRow extends Record<string, unknown> {
  readonly writtenIn: bigint
  readonly id: string
  readonly open: readonly string[]
}

export async function lockSealingPosition(sql: Sql): Promise<SealingPosition | undefined> {
  const [row] = await sql<LockedRow>(LOCK)
  return row && { ...row, open: row.open.map(BigInt) }
}

/**
 * One statement has one snapshot: it lists the ended transactions and sees everything they wrote. $3 are the
 * transactions that were open before. Events of those that ended come first, and of each all or none, so that
 * the position and the open transactions say which events are sealed.
 */
const UNSEALED = `
with seen as materialized (
  select pg_snapshot_xmax(one.snapshot)::text::bigint + added as newest,
    array(select xid::text::bigint + added from pg_snapshot_xip(one.snapshot) as xid) as open
  from journal_origin, (select pg_current_snapshot() as snapshot) as one
)
select seen.newest, seen.open::text[] as open, found.* from seen left join lateral (
  (select true as "isLate", ${AUDIT_EVENT_COLUMNS} from (
      select * from events where written_in = any($3::bigint[]) and written_in <> all(seen.open)
      order by written_in fetch first $4 rows with ties
    ) e order by e.written_in, e.id)
  union all
  (select false, ${AUDIT_EVENT_COLUMNS} from events e
    where (e.written_in, e.id) > ($1::bigint, $2::text) and e.written_in < seen.newest
    order by e.written_in, e.id limit $4)
) found on true`

interface UnsealedRow extends AuditEventRow {
  readonly newest: bigint
  readonly open: readonly string[]
  readonly isLate: boolean
}

export interface UnsealedEvents {
  /** Their transactions were open when sealing passed them. */
  readonly late: readonly AuditEventRow[]
  readonly fresh: readonly AuditEventRow[]
  readonly upTo: SealingPosition
  readonly isFull: boolean
}

export async function readUnsealedEvents(
  sql: Sql,
  from: SealingPosition,
  most: number,
): Promise<UnsealedEvents> {
  const rows = await sql<UnsealedRow>(UNSEALED, [from.writtenIn, from.id, from.open.map(String), most])
  const [first] = rows
  if (!first) throw new Error('the table journal_origin is empty')
  const late = rows.filter(({ id, isLate }) => id !== null && isLate)
  const fresh = rows.filter(({ id, isLate }) => id !== null && !isLate)
  const last = fresh.at(-1)
  const isPageFull = fresh.length === most
  const place =
    isPageFull && last
      ? { writtenIn: BigInt(last.writtenIn), id: last.id }
      : { writtenIn: first.newest, id: '' }
  const open = first.open.map(BigInt).filter(number => number < place.writtenIn)
  // Transactions behind the last late one may not have fitted.
  const lastLate = late.length < most ? undefined : BigInt(late.at(-1)?.writtenIn ?? 0)
  const isLeft = (number: bigint): boolean =>
    lastLate !== undefined && number > lastLate && !open.includes(number)
  return {
    late,
    fresh,
    upTo: { ...place, open: [...open, ...from.open.filter(isLeft)] },
    isFull: isPageFull || lastLate !== undefined,
  }
}

const MOVE = 'update audit_sealing set written_in = $1, id = $2, open = $3::bigint[]'

export const moveSealingPosition = (sql: Sql, { writtenIn, id, open }: SealingPosition): Promise<unknown> =>
  sql(MOVE, [writtenIn, id, open.map(String)])

/** Events behind the position, or a transaction that was open when sealing passed it. */
export const SEALING_DUE_SQL = `
select clock_timestamp() from audit_sealing s
where cardinality(s.open) > 0 or exists (select from events where written_in >= s.written_in)`

export const SEALED_UP_TO_SQL = 'select written_in, id from audit_sealing'

export const sealingBehindSeconds = (sql: Sql): Promise<number> => readSecondsBehind(sql, SEALED_UP_TO_SQL)

const TAIL = `
select count(*)::int as entries, min(recorded_at) as "oldestAt"
from unsealed_events($1, $2, 0, '', 9223372036854775807, '', '{}', 2147483647)`

export interface UnsealedTail extends Record<string, unknown> {
  readonly entries: number
  readonly oldestAt: Date | null
}

export const readUnsealedTail = async (sql: Sql, ownerId: string, mode: string): Promise<UnsealedTail> =>
  (await sql<UnsealedTail>(TAIL, [ownerId, mode]))[0] ?? { entries: 0, oldestAt: null }
