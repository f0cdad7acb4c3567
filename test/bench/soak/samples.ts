import pg from 'pg'
import { sealingBehindSeconds } from '../../../src/compliance/audit/index.ts'
import { countingBehindSeconds } from '../../../src/insight/spend/index.ts'
import { paymentsOverdueSeconds } from '../../../src/kernel/database/deadline-rows.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { secondsBehindSql } from '../../../src/kernel/journal/journal-position.ts'
import { SECRET, type Stage } from '../stage.ts'
import type { Bound } from './trend.ts'

/** A figure at one moment. */
export interface Figure {
  readonly name: string
  readonly value: number
  readonly bound: Bound
}

export interface WatchedProcess {
  readonly name: string
  memoryMegabytes(): number
  /** Where its metrics are, for a process of the service. */
  readonly metricsUrl?: string
}

const MEMORY: Bound = { share: 0.15, least: 20 }
const HEAP: Bound = { share: 0.15, least: 15 }
/** Seconds, and rows that wait. */
const LAG: Bound = { share: 0.3, least: 2 }
const PER_ROW: Bound = { share: 0.1, least: 10 }
const DEAD: Bound = { share: 0.3, least: 10 }

export const LATENCY: Bound = { share: 0.3, least: 20 }

async function heapOf({ name, metricsUrl }: WatchedProcess): Promise<Figure[]> {
  if (metricsUrl === undefined) return []
  const answer = await fetch(metricsUrl, { headers: { 'x-dashboard-secret': SECRET } })
  const [, bytes] = /^nodejs_heap_size_used_bytes (\S+)$/m.exec(await answer.text()) ?? []
  if (bytes === undefined) throw new Error(`${metricsUrl} does not tell the heap`)
  return [{ name: `heap of ${name}, MiB`, value: Number(bytes) / 2 ** 20, bound: HEAP }]
}

export async function memoryFigures(processes: readonly WatchedProcess[]): Promise<Figure[]> {
  const resident = processes.map(one => ({
    name: `memory of ${one.name}, MiB`,
    value: one.memoryMegabytes(),
    bound: MEMORY,
  }))
  return [...resident, ...(await Promise.all(processes.map(heapOf))).flat()]
}

/** How many seconds deliveries and the relay are behind the payments, apart. */
const DELIVERY_LAGS = `
select (${secondsBehindSql(`select (position ->> 'below')::bigint, '' from delivery_position`)}) as "deliveries made",
  coalesce((select greatest(0, extract(epoch from clock_timestamp() - min(due_at))) from deliveries
    where status = 'pending'), 0)::float8 as "deliveries sent",
  coalesce((select greatest(0, extract(epoch from clock_timestamp() - min(due_at))) from outbox), 0)::float8 as "relay"`

/** Tables above this size; a smaller one says little about bloat. */
const SMALL_BYTES = 4_000_000

const ROWS = `
select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name,
  sum(s.n_live_tup)::float8 as rows, sum(s.n_dead_tup)::float8 as dead, sum(pg_table_size(c.oid))::float8 as "tableBytes",
  sum(pg_indexes_size(c.oid))::float8 as "indexBytes"
from pg_stat_user_tables s join pg_class c on c.oid = s.relid where c.relnamespace = 'public'::regnamespace
group by 1 having sum(s.n_live_tup) > 0`

interface TableRow {
  readonly name: string
  readonly rows: number
  readonly dead: number
  readonly tableBytes: number
  readonly indexBytes: number
}

function tableFigures({ name, rows, dead, tableBytes, indexBytes }: TableRow): Figure[] {
  return [
    { name: `${name}: bytes a row`, value: tableBytes / rows, bound: PER_ROW },
    { name: `${name}: bytes of indexes a row`, value: indexBytes / rows, bound: PER_ROW },
    { name: `${name}: dead rows of a hundred`, value: (100 * dead) / (rows + dead), bound: DEAD },
  ]
}

/** Reads on one connection of its own. */
export function openWatch({ databaseUrl, closeLater }: Pick<Stage, 'databaseUrl' | 'closeLater'>) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  closeLater(() => pool.end())
  const sql = sqlOn(pool)
  const lags = async (): Promise<Readonly<Record<string, number>>> => ({
    sealer: await sealingBehindSeconds(sql),
    sums: await countingBehindSeconds(sql),
    'overdue records': await paymentsOverdueSeconds(sql),
    ...(await sql<Record<string, number>>(DELIVERY_LAGS))[0],
  })
  return {
    sql,
    lags,
    async figures(): Promise<Figure[]> {
      const behind = Object.entries(await lags())
      const { rows } = await pool.query<TableRow>(ROWS)
      const large = rows.filter(({ tableBytes, indexBytes }) => tableBytes + indexBytes > SMALL_BYTES)
      return [
        ...behind.map(([name, value]) => ({ name: `behind: ${name}`, value, bound: LAG })),
        ...large.flatMap(tableFigures),
      ]
    },
  }
}

export type Watch = ReturnType<typeof openWatch>
