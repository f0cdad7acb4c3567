import type { SqlContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { type DataSubject, type SubjectTable, subjectQueryValues } from './tables-of-subject.ts'

export interface TableShape {
  readonly columns: readonly string[]
  /** The primary key without the columns that the owner determines, each with its type. */
  readonly key: readonly (readonly [name: string, type: string])[]
}

interface ShapeRow extends Row {
  readonly name: string
  readonly columns: string[]
  readonly key: [string, string][] | null
}

const SHAPES = `
select c.relname as name,
  (select json_agg(a.attname order by a.attnum) from pg_attribute a
   where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) as columns,
  (select json_agg(json_build_array(a.attname, format_type(a.atttypid, null)) order by k.place)
   from pg_index i cross join lateral unnest(i.indkey::int2[]) with ordinality as k(attnum, place)
   join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
   where i.indrelid = c.oid and i.indisprimary and a.attname not in ('owner_id', 'mode')) as key
from pg_class c where c.relname = any($1::text[]) and c.relnamespace = 'public'::regnamespace`

export async function readTableShapes(
  names: readonly string[],
  { sql }: SqlContext,
): Promise<ReadonlyMap<string, TableShape>> {
  const rows = await sql<ShapeRow>(SHAPES, [[...new Set(names)]])
  return new Map(rows.map(({ name, columns, key }) => [name, { columns, key: key ?? [] }]))
}

export function tableShapeOf({ name }: SubjectTable, shapes: ReadonlyMap<string, TableShape>): TableShape {
  const shape = shapes.get(name)
  if (!shape) throw new Error(`there is no table ${name}`)
  return shape
}

type KeyPosition = readonly string[]

/** The condition that a row is after a position, or up to it; `from` is the number of its first parameter. */
const keyCondition = ({ key }: TableShape, sign: '>' | '<=', from: number): string =>
  `(${key.map(([name]) => `t.${name}`)}) ${sign} (${key.map(([, type], n) => `$${n + from}::text::${type}`)})`

const orderOf = ({ key }: TableShape): string =>
  key.length > 0 ? `order by ${key.map(([name]) => `t.${name}`)}` : ''

/** The rows after `after`, up to `upTo`; a missing bound is the end of the table. */
interface Window {
  readonly after: KeyPosition | undefined
  readonly upTo: KeyPosition | undefined
}

export function windowCondition(
  { after, upTo }: Window,
  shape: TableShape,
): readonly [condition: string, values: KeyPosition] {
  const behind = after ? ` and ${keyCondition(shape, '>', 4)}` : ''
  const before = upTo ? ` and ${keyCondition(shape, '<=', 4 + (after?.length ?? 0))}` : ''
  return [behind + before, [...(after ?? []), ...(upTo ?? [])]]
}

/**
 * A table of the account in windows of this many rows. A subject other than the owner has few rows in a table
 * that may have millions, so each statement reads one window and never the whole table.
 */
export async function* keyWindows(
  table: SubjectTable,
  shape: TableShape,
  subject: DataSubject,
  context: SqlContext,
  rows: number,
): AsyncGenerator<Window> {
  const columns = shape.key.map(([name]) => `t.${name}::text`)
  let after: KeyPosition | undefined
  do {
    const [behind, values] = windowCondition({ after, upTo: undefined }, shape)
    const text = `select array[${columns}]::text[] as key from ${table.name} t
      where ${table.ofOwner}${behind} ${orderOf(shape)} offset ${rows - 1} limit 1`
    const found =
      columns.length === 0
        ? []
        : await context.sql<{ key: string[] } & Row>(text, [
            ...subjectQueryValues(subject, context),
            ...values,
          ])
    const upTo: KeyPosition | undefined = found[0]?.key
    yield { after, upTo }
    after = upTo
  } while (after)
}

const PAGE_SIZE = 1_000

/** Rows per statement if only some of them are about the subject. */
const WINDOW_SIZE = 5_000

export const columnToMember = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

export const exportedColumns = ({ table: { secret = [] } }: SubjectTable, shape: TableShape): string[] =>
  shape.columns.filter(column => !secret.includes(column))

function pageStatement(table: SubjectTable, shape: TableShape, bounds: string): string {
  const shown = exportedColumns(table, shape).map(column => `t.${column} as "${columnToMember(column)}"`)
  const keys = shape.key.map(([name]) => `r."${columnToMember(name)}"::text`)
  const about = table.ofSubject === null ? '' : ` and ${table.ofSubject}`
  const limit = table.ofSubject === null ? `limit ${PAGE_SIZE}` : ''
  return `select to_jsonb(r)::text as json, array[${keys.join()}]::text[] as key
    from (select ${shown.join()} from ${table.name} t where ${table.ofOwner}${bounds}${about} ${orderOf(shape)} ${limit}) r`
}

interface RecordRow extends Row {
  readonly json: string
  readonly key: string[]
}

/** The records of a table about the subject as JSON, page by page. No transaction stays open between pages. */
export async function* subjectRecordPages(
  table: SubjectTable,
  shape: TableShape,
  subject: DataSubject,
  context: SqlContext,
): AsyncGenerator<readonly string[]> {
  const read = (window: Window): Promise<RecordRow[]> => {
    const [bounds, values] = windowCondition(window, shape)
    return context.sql<RecordRow>(pageStatement(table, shape, bounds), [
      ...subjectQueryValues(subject, context),
      ...values,
    ])
  }
  for await (const rows of table.ofSubject === null
    ? ownPages(read, shape)
    : pagesAbout(read, keyWindows(table, shape, subject, context, WINDOW_SIZE)))
    if (rows.length > 0) yield rows.map(({ json }) => json)
}

type Read = (window: Window) => Promise<RecordRow[]>

async function* ownPages(read: Read, shape: TableShape): AsyncGenerator<RecordRow[]> {
  let after: KeyPosition | undefined
  do {
    const rows = await read({ after, upTo: undefined })
    yield rows
    after = rows.length === PAGE_SIZE && shape.key.length > 0 ? rows.at(-1)?.key : undefined
  } while (after)
}

async function* pagesAbout(read: Read, windows: AsyncGenerator<Window>): AsyncGenerator<RecordRow[]> {
  for await (const window of windows) yield await read(window)
}
