import type { Context } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Subject, TableOfSubject } from './tables-of-subject.ts'

const PAGE_SIZE = 1_000

/** A table as the database has it. */
export interface Shape {
  readonly columns: readonly string[]
  /** The primary key without what the owner gives already, each column with its type. */
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

export async function shapesOf(
  names: readonly string[],
  { sql }: Pick<Context, 'sql'>,
): Promise<ReadonlyMap<string, Shape>> {
  const rows = await sql<ShapeRow>(SHAPES, [names])
  return new Map(rows.map(({ name, columns, key }) => [name, { columns, key: key ?? [] }]))
}

/** `amount_cents` is the member `amountCents`. */
export const memberOf = (column: string): string =>
  column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** The columns that are given out: all but what opens something. */
export const shownColumns = ({ table: { secret = [] } }: TableOfSubject, shape: Shape): string[] =>
  shape.columns.filter(column => !secret.includes(column))

/** The statement of a page: the records as JSON, and where each stands in the order of the primary key. */
function pageStatement(table: TableOfSubject, shape: Shape, isFirst: boolean): string {
  const shown = shownColumns(table, shape).map(column => `t.${column} as "${memberOf(column)}"`)
  const key = shape.key.map(([name]) => `t.${name}`)
  const after = shape.key.map(([, type], n) => `$${n + 4}::text::${type}`)
  const isBehind = isFirst || key.length === 0 ? '' : `and (${key.join()}) > (${after.join()})`
  const order = key.length > 0 ? `order by ${key.join()}` : ''
  const keys = shape.key.map(([name]) => `r."${memberOf(name)}"::text`)
  return `select to_jsonb(r)::text as json, array[${keys.join()}]::text[] as key
    from (select ${shown.join()} from ${table.name} t where ${table.condition} ${isBehind} ${order} limit ${PAGE_SIZE}) r`
}

interface RecordRow extends Row {
  readonly json: string
  readonly key: string[]
}

/** The records of a table about the subject, each as JSON, page by page: no transaction stays open in between. */
export async function* recordPages(
  table: TableOfSubject,
  shape: Shape,
  subject: Subject,
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): AsyncGenerator<readonly string[]> {
  const values = [tenant.ownerId, tenant.mode, subject.id]
  let last: readonly string[] | undefined
  do {
    const text = pageStatement(table, shape, last === undefined)
    const rows = await sql<RecordRow>(text, last ? [...values, ...last] : values)
    if (rows.length > 0) yield rows.map(({ json }) => json)
    last = rows.length === PAGE_SIZE && shape.key.length > 0 ? rows.at(-1)?.key : undefined
  } while (last)
}
