import { readFileSync, readlinkSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../../support/until.ts'
import { parentOf } from '../child.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'

/** The price of some work in PostgreSQL. These are counts, so they do not depend on the machine. */
export interface Price {
  readonly statements: number
  readonly inserted: number
  readonly updated: number
  /** Updates that add no index entry. */
  readonly hot: number
  readonly deleted: number
  readonly indexEntries: number
  /** Without page images: their number depends on the last checkpoint. */
  readonly walBytes: number
  readonly events: number
}

export interface TablePrice {
  readonly table: string
  readonly walBytes: number
  /** The entries that each index of the table has got. */
  readonly indexes: Readonly<Record<string, number>>
}

export interface Counted extends Price {
  readonly seconds: number
  readonly tables: readonly TablePrice[]
}

/** The followers of the journal are done once the WAL has grown by no more than an idle instance's for this long. */
const QUIET_MS = usualOrShort(2_000, 800)
const IDLE_BYTES = 3_000
const PATIENCE_MS = 60_000

/** PostgreSQL's own relations, with those in which it stores their long values, have lower numbers. */
const FIRST_OID_OF_USERS = 16_384

const LOGGED = /LOG: {2}(?:execute|statement)/g

/** One record of the WAL may insert several rows: its description says how many. PostgreSQL's own tables, such as its statistics, do not count. */
const WRITTEN = `
select
  coalesce(sum(case
    when resource_manager = 'Heap' and record_type like 'INSERT%' then 1
    when resource_manager = 'Heap2' and record_type like 'MULTI_INSERT%'
      then substring(description from 'ntuples: (\\d+)')::int end), 0)::int as inserted,
  count(*) filter (where resource_manager = 'Heap' and record_type ~ '^(HOT_)?UPDATE')::int as updated,
  count(*) filter (where resource_manager = 'Heap' and record_type like 'HOT_UPDATE%')::int as hot,
  count(*) filter (where resource_manager = 'Heap' and record_type like 'DELETE%')::int as deleted,
  count(*) filter (where resource_manager in ('Btree', 'Gin', 'Hash') and record_type like 'INSERT%')::int as "indexEntries",
  coalesce(sum(record_length - fpi_length), 0)::int as "walBytes"
from pg_get_wal_records_info($1, $2) r
where not exists (
  select from pg_get_wal_block_info($1, $2) b join pg_class c on c.relfilenode = b.relfilenode
  where b.start_lsn = r.start_lsn and b.block_id = 0 and c.oid < ${FIRST_OID_OF_USERS})`

/** A partition counts as its table. The first block of a record is of the relation that it changes. */
const BY_TABLE = `
with written as (
  select coalesce(pg_partition_root(c.oid), c.oid) as relation, r.record_length - r.fpi_length as bytes,
    (r.resource_manager in ('Btree', 'Gin', 'Hash') and r.record_type like 'INSERT%')::int as entries
  from pg_get_wal_records_info($1, $2) r
  join pg_get_wal_block_info($1, $2) b on b.start_lsn = r.start_lsn and b.block_id = 0
  join pg_class c on c.relfilenode = b.relfilenode
), by_relation as (
  select coalesce(i.indrelid, w.relation)::regclass::text as "table",
    case when i.indexrelid is not null then w.relation::regclass::text end as index,
    sum(w.entries)::int as entries, sum(w.bytes)::int as bytes
  from written w left join pg_index i on i.indexrelid = w.relation
  where not coalesce(i.indrelid, w.relation)::regclass::text like 'pg!_%' escape '!'
  group by 1, 2
)
select "table", sum(bytes)::int as "walBytes",
  coalesce(jsonb_object_agg(index, entries) filter (where entries > 0), '{}') as indexes
from by_relation group by "table" order by sum(entries) desc, "table"`

const ON_DISK = `
select coalesce(pg_partition_root(oid), oid)::regclass::text as "table", sum(pg_total_relation_size(oid))::float8 as bytes
from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' group by 1`

const EVENTS = 'select count(*)::int as events from events'
const POSITION = 'select pg_current_wal_insert_lsn()::text as position'

/** Counts what PostgreSQL is asked and what it writes: the former in its log, the latter in its WAL. */
export async function openCounter(stage: Stage) {
  const silent = { connectionString: stage.databaseUrl, options: '-c log_statement=none' }
  const client = new pg.Client(silent)
  const watchers = new pg.Pool({ ...silent, max: 4 })
  await client.connect()
  stage.closeLater(() => client.end())
  stage.closeLater(() => watchers.end())
  const read = async <R extends object>(sql: string, values: readonly unknown[] = []): Promise<R> =>
    (await client.query<R>(sql, [...values])).rows[0] as R
  await client.query('create extension if not exists pg_walinspect')
  await client.query("alter system set log_statement = 'all'")
  await client.query('select pg_reload_conf()')
  const { pid } = await read<{ pid: number }>('select pg_backend_pid() as pid')
  const log = readlinkSync(`/proc/${parentOf(pid)}/fd/2`)
  const statements = (): number => readFileSync(log, 'utf8').match(LOGGED)?.length ?? 0
  const position = async (): Promise<string> => (await read<{ position: string }>(POSITION)).position

  async function untilQuiet(): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS
    for (let before = await position(); performance.now() < deadline; ) {
      await sleep(QUIET_MS)
      const now = await position()
      if (bytesBetween(before, now) < IDLE_BYTES) return
      before = now
    }
    throw new Error(`PostgreSQL is still written to after ${PATIENCE_MS / 1_000} seconds`)
  }

  return {
    untilQuiet,
    /** Each table with its indexes. */
    async bytesOnDisk(): Promise<ReadonlyMap<string, number>> {
      const { rows } = await client.query<{ table: string; bytes: number }>(ON_DISK)
      return new Map(rows.map(({ table, bytes }) => [table, bytes]))
    },
    /** Waits without a request, which would count. */
    untilTrue: (sql: string, values: readonly unknown[]): Promise<unknown> =>
      until(
        sql,
        async () =>
          (await watchers.query({ text: sql, values: [...values], rowMode: 'array' })).rows[0]?.[0] === true,
      ),
    /** The price of the work, with all that follows from it in the background, and how long that took. */
    async priceOf(work: () => Promise<unknown>): Promise<Counted> {
      const began = performance.now()
      const before = {
        statements: statements(),
        position: await position(),
        ...(await read<EventCount>(EVENTS)),
      }
      await work()
      await untilQuiet()
      const span = [before.position, await position()] as const
      const asked = statements() - before.statements
      return {
        ...(bytesBetween(...span) === 0 ? NOTHING : await read<Written>(WRITTEN, span)),
        statements: asked,
        events: (await read<EventCount>(EVENTS)).events - before.events,
        tables: bytesBetween(...span) === 0 ? [] : (await client.query<TablePrice>(BY_TABLE, [...span])).rows,
        seconds: (performance.now() - began) / 1_000,
      }
    },
  }
}

type Written = Omit<Price, 'statements' | 'events'>

/** PostgreSQL refuses to read a span of the WAL in which no record begins: an idle instance writes none. */
const NOTHING: Written = { inserted: 0, updated: 0, hot: 0, deleted: 0, indexEntries: 0, walBytes: 0 }

interface EventCount {
  readonly events: number
}

export type Counter = Awaited<ReturnType<typeof openCounter>>

const bytesBetween = (from: string, to: string): number => offsetOf(to) - offsetOf(from)

/** A position in the WAL is two hexadecimal halves. */
function offsetOf(position: string): number {
  const [high = '0', low = '0'] = position.split('/')
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16)
}
