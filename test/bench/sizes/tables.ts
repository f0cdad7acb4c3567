import { tableLine, wholeNumber } from '../report.ts'
import { type Stage, withClient } from '../stage.ts'

export interface TableSize {
  readonly name: string
  readonly rows: number
  readonly tableBytes: number
  readonly indexBytes: number
}

export interface IndexSize {
  readonly name: string
  readonly bytes: number
}

/** A partition counts as its table. */
const TABLES = `
select coalesce(pg_partition_root(oid), oid)::regclass::text as name, sum(greatest(reltuples, 0))::float8 as rows,
  sum(pg_table_size(oid))::float8 as "tableBytes", sum(pg_indexes_size(oid))::float8 as "indexBytes"
from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
group by 1 order by sum(pg_total_relation_size(oid)) desc`

const INDEXES = `
select coalesce(pg_partition_root(indexrelid), indexrelid)::regclass::text as name,
  sum(pg_relation_size(indexrelid))::float8 as bytes
from pg_index join pg_class c on c.oid = indrelid
where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' group by 1 order by 2 desc`

export const readSizes = (stage: Pick<Stage, 'databaseUrl'>) =>
  withClient(stage, async client => ({
    tables: (await client.query<TableSize>(TABLES)).rows,
    indexes: (await client.query<IndexSize>(INDEXES)).rows,
  }))

export type Sizes = Awaited<ReturnType<typeof readSizes>>

const SHOWN = 20

const megabytes = (bytes: number): string => wholeNumber(bytes / 1e6)

export const bytesOf = ({ tables }: Sizes): number =>
  tables.reduce((sum, { tableBytes, indexBytes }) => sum + tableBytes + indexBytes, 0)

export const sizeTables = (sizes: Sizes, payments: number): string[] => [
  `${megabytes(bytesOf(sizes))} MB, ${wholeNumber(bytesOf(sizes) / payments)} bytes a payment`,
  tableLine(['the largest tables', 'rows', 'MB', 'MB of indexes']),
  ...sizes.tables
    .slice(0, SHOWN)
    .map(({ name, rows, tableBytes, indexBytes }) =>
      tableLine([name, wholeNumber(rows), megabytes(tableBytes), megabytes(indexBytes)]),
    ),
  tableLine(['the largest indexes', 'MB']),
  ...sizes.indexes.slice(0, SHOWN).map(({ name, bytes }) => tableLine([name, megabytes(bytes)])),
]
