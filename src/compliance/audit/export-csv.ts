import type { TrailEntry } from '../../trail/index.ts'
import { csvLine, csvText } from '../../values/csv.ts'
import { type Exported, readLines, spanOf } from './export-rows.ts'

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

/** The entries as a table: first its place, then who did what, at last what the event told, as JSON. */
export async function* csvLines({ sql, tenant, checkpoint, period }: Exported): AsyncGenerator<string> {
  yield csvLine(['position', ...columns, 'data', 'leaf'])
  const [first, end] = await spanOf(sql, tenant, period, checkpoint.size)
  for (let begin = first; begin < end; begin += PAGE) {
    const rows = await readLines(sql, tenant, [begin, Math.min(begin + PAGE, end)], period)
    const text = rows.map(row => (row.isWanted ? tableLine(row.line) : '')).join('')
    if (text !== '') yield text
  }
}

/** An entry that is gone and was not purged has no cells: `verify` tells of it. */
function tableLine(line: string): string {
  const { position, entry, leaf } = JSON.parse(line) as {
    readonly position: number
    readonly entry: TrailEntry | null
    readonly leaf: string
  }
  const cells = columns.map(column => csvText(entry?.[column] ?? null))
  const data = csvText(entry && JSON.stringify(entry.data))
  return csvLine([String(position), ...cells, data, csvText(leaf)])
}
