import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { idRangeCondition } from '../../kernel/database/created-within.ts'
import type { TrailEntry } from '../../trail/index.ts'
import { csvCell, csvLine } from '../../values/csv.ts'
import type { CheckpointView } from './checkpoint.ts'

interface Period {
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

export interface AuditExport {
  readonly sql: Sql
  readonly tenant: Tenant
  readonly checkpoint: CheckpointView
  readonly period: Period
}

interface ExportedRow extends Row {
  readonly position: number
  readonly isWanted: boolean
  readonly line: string
}

const instant = (member: string, column: string): string =>
  `'"${member}":"', to_char(e.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), '"'`

const text = (member: string, column: string): string =>
  `'"${member}":', coalesce(to_json(e.${column})::text, 'null')`

/**
 * The members as in `trailEntryFromEvent`. PostgreSQL writes the lines, which the service only passes on: several times
 * as fast as writing them here.
 */
const ENTRY = [
  text('action', 'action'),
  text('actorId', 'actor_id'),
  text('actorType', 'actor_type'),
  text('address', 'address'),
  text('agentId', 'agent_id'),
  instant('at', 'recorded_at'),
  text('auditId', 'audit_id'),
  instant('createdAt', 'created_at'),
  `'"data":', e.data`,
  text('event', 'event'),
  text('eventId', 'id'),
  `'"id":', to_json(coalesce(e.audit_id, overlay(e.id placing 'audit' from 1 for 5)))`,
  text('mode', 'mode'),
  text('outcome', 'outcome'),
  text('ownerId', 'owner_id'),
  text('requestId', 'request_id'),
  text('resourceId', 'resource_id'),
  text('runId', 'run_id'),
  `'"writtenIn":"', e.written_in, '"'`,
].join(`, ',', `)

const LINES = `
select s.position::float8 as position,
  e.id is null or (e.recorded_at >= $5 and e.recorded_at < $6) as "isWanted",
  concat('{"type":"entry","position":', s.position, ',"leaf":"', encode(s.leaf, 'base64'), '","entry":',
    case when e.id is null then 'null' else concat('{', ${ENTRY}, '}') end,
    ',"commitments":', s.commitments, ',"salts":', s.salts, '}') as line
from seals_between($1, $2, $3, $4) s left join lateral (
  select * from events one where (one.owner_id, one.mode, one.id) = (s.owner_id, s.mode, s.event_id) limit 1
) e on true
order by s.position`

export const readAuditLines = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  [begin, end]: readonly [number, number],
  { from, to }: Period,
): Promise<ExportedRow[]> =>
  sql<ExportedRow>(LINES, [ownerId, mode, begin, end, from ?? '-infinity', to ?? 'infinity'])

const SPAN = `
select min(position)::float8 as first, max(position)::float8 as last from seals_between($1, $2, 0, $5)
where event_id >= $3 and event_id < $4`

/**
 * The positions between which all entries of a period lie. Ids are ordered by time, and a late entry is found
 * by its id.
 */
export async function entryPositionsOfPeriod(
  sql: Sql,
  { ownerId, mode }: Tenant,
  period: Period,
  size: number,
): Promise<readonly [number, number]> {
  if (!period.from && !period.to) return [0, size]
  const ids = idRangeCondition('event', period)
  const [row] = await sql<{ first: number | null; last: number | null }>(SPAN, [
    ownerId,
    mode,
    ids?.$gte ?? '',
    ids?.$lt ?? '~',
    size,
  ])
  return row?.first == null || row.last === null ? [size, size] : [row.first, row.last + 1]
}

const PAGE = 500

const columns = [
  'at',
  'action',
  'event',
  'outcome',
  'resourceId',
  'actorType',
  'actorId',
  'address',
  'agentId',
  'runId',
  'requestId',
  'createdAt',
  'id',
] as const

export async function* auditCsvLines({
  sql,
  tenant,
  checkpoint,
  period,
}: AuditExport): AsyncGenerator<string> {
  yield csvLine(['position', ...columns, 'data', 'leaf'])
  const [first, end] = await entryPositionsOfPeriod(sql, tenant, period, checkpoint.size)
  for (let begin = first; begin < end; begin += PAGE) {
    const rows = await readAuditLines(sql, tenant, [begin, Math.min(begin + PAGE, end)], period)
    const text = rows.map(row => (row.isWanted ? tableLine(row.line) : '')).join('')
    if (text !== '') yield text
  }
}

/** A missing entry that was not purged has empty cells; `verify` reports it. */
function tableLine(line: string): string {
  const { position, entry, leaf } = JSON.parse(line) as {
    readonly position: number
    readonly entry: TrailEntry | null
    readonly leaf: string
  }
  const cells = columns.map(column => csvCell(entry?.[column] ?? null))
  const data = csvCell(entry && JSON.stringify(entry.data))
  return csvLine([String(position), ...cells, data, csvCell(leaf)])
}
