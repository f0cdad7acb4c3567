import { areas } from '../../../src/areas.ts'
import { personalDataOf } from '../../../src/derive/personal-areas.ts'
import { newId } from '../../../src/values/ids.ts'
import { legalGrounds, type PersonalTable } from '../../../src/values/personal.ts'
import type { TestService } from '../../support/harness.ts'

/** The content of every personal column before the deletion. */
export const MARK = 'Mark Erased'
export const MARKED_DATE = '1977-07-07'

type Sql = TestService['sql']

interface Column {
  readonly table: string
  readonly column: string
  readonly type: string
  readonly needed: boolean
}

const COLUMNS = `
select c.relname as table, a.attname as column, format_type(a.atttypid, null) as type,
  a.attnotnull and not a.atthasdef as needed
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  and a.attgenerated = '' order by c.relname, a.attnum`

export const registered: ReadonlyMap<string, PersonalTable> = new Map(
  [...personalDataOf(areas).values()]
    .flatMap(personal => Object.entries<PersonalTable>(personal))
    .filter(([, { owner, personal }]) => owner !== null && Object.keys(personal).length > 0),
)

/** All columns of the register that the law keeps for years, or all others. */
export const columnsOf = (isKept: boolean): string[] =>
  [...registered]
    .flatMap(([table, { personal }]) =>
      Object.entries(personal)
        .filter(([, { ground }]) => legalGrounds[ground].years > 0 === isKept)
        .map(([column]) => `${table}.${column}`),
    )
    .sort()

/** JSON columns that contain a list. */
const LISTS: readonly string[] = ['disputes.words', 'onboardings.information_requests']

/** The members of an object that are forgotten. */
const markedMembers = (members: string): string =>
  JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(members)).map(name => [name, MARK])))

const marked = (type: string, isList: boolean): string | undefined =>
  ({
    text: MARK,
    jsonb: JSON.stringify(isList ? [MARK] : { name: MARK, list: [{ comment: MARK }] }),
    'text[]': `{"${MARK}"}`,
    date: MARKED_DATE,
  })[type]

const anything = (type: string, name: string): unknown =>
  ({
    text: name,
    jsonb: '{}',
    'text[]': '{}',
    bytea: name,
    boolean: false,
    date: '2026-01-01',
    xid8: '1',
  })[type] ?? (type.endsWith('[]') ? '{}' : type.startsWith('timestamp') ? '2026-01-01T00:00:00Z' : 0)

function cellOf({ table, column, type, needed }: Column, ownerId: string, name: string): unknown {
  if (column === 'owner_id' || (table === 'customers' && column === 'id')) return ownerId
  if (column === 'mode') return 'test'
  if (column === 'id' && table === 'events') return newId('event')
  if (column === 'action') return 'a.b'
  if (column === 'actor_type') return 'operator'
  const personal = registered.get(table)?.personal[column]
  if (personal && typeof personal.forget === 'object' && 'members' in personal.forget)
    return markedMembers(personal.forget.members)
  if (personal) return marked(type, LISTS.includes(`${table}.${column}`))
  return needed ? anything(type, name) : undefined
}

/** A row with the mark in every personal column that is not given. */
async function plantRow(
  sql: Sql,
  columns: readonly Column[],
  ownerId: string,
  given: Readonly<Record<string, unknown>> & { readonly id?: string } = {},
): Promise<void> {
  const row = columns.flatMap(one => {
    const value = one.column in given ? given[one.column] : cellOf(one, ownerId, given.id ?? 'x')
    return value === undefined ? [] : [[one.column, value] as const]
  })
  const names = row.map(([column]) => `"${column}"`)
  const places = row.map((_, n) => `$${n + 1}`)
  const values = row.map(([, value]) => value)
  await sql(`insert into ${columns[0]?.table} (${names}) values (${places})`, values)
}

const columnsOfTables = async (sql: Sql): Promise<ReadonlyMap<string, Column[]>> =>
  Map.groupBy(await sql<Column>(COLUMNS), ({ table }) => table)

/** A row that the law requires, in tables that keep only a part of theirs. */
const KEPT: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  people: { joined_at: '2026-01-01T00:00:00Z' },
}

/** A row in each table of the register, with the mark in every personal column and constraints disabled meanwhile. */
export async function plant(sql: Sql, ownerId: string): Promise<void> {
  const columns = await columnsOfTables(sql)
  for (const table of registered.keys()) {
    if (table === 'customers') await sql('delete from customers where id = $1', [ownerId])
    await plantRow(sql, columns.get(table) ?? [], ownerId, KEPT[table])
  }
}

export type Stories = Readonly<Record<string, Readonly<Record<string, object>>>>

/** These rows, with the mark in every other personal column. A missing text is the id of the row. */
export async function plantStories(sql: Sql, ownerId: string, stories: Stories): Promise<void> {
  const columns = await columnsOfTables(sql)
  for (const [table, rows] of Object.entries(stories))
    for (const [id, values] of Object.entries(rows))
      await plantRow(sql, columns.get(table) ?? [], ownerId, { client_intent_id: id, ...values, id })
}

/** The ids of the rows of a table that contain the mark. */
export async function idsWithMark(sql: Sql, ownerId: string, table: string): Promise<string[]> {
  const text = `select id from ${table} t where owner_id = $1 and t::text like '%${MARK}%' order by 1`
  return (await sql<{ id: string }>(text, [ownerId])).map(({ id }) => id)
}

/** Every column of the database that contains the mark, as `table.column`. */
export async function columnsWithMark(sql: Sql): Promise<string[]> {
  const columns = await sql<Column>(COLUMNS)
  const texts = columns.filter(({ type }) => /^(text|jsonb|text\[\]|date|bytea|json)$/.test(type))
  const found = await sql<{ place: string; found: boolean }>(
    texts
      .map(({ table, column, type }) => {
        const text = type === 'bytea' ? `encode("${column}", 'escape')` : `"${column}"::text`
        return `select '${table}.${column}' as place, exists (
          select from "${table}" where ${text} like '%${MARK}%' or ${text} = '${MARKED_DATE}') as found`
      })
      .join(' union all '),
  )
  return found
    .filter(one => one.found)
    .map(({ place }) => place)
    .sort()
}
