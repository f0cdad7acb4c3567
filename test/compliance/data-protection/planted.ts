import { areas } from '../../../src/areas.ts'
import { newId } from '../../../src/values/ids.ts'
import { legalGrounds, type PersonalTable } from '../../../src/values/personal.ts'
import type { TestService } from '../../support/harness.ts'

/** What stands in every personal column before the deletion. */
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
  Object.values(areas)
    .flatMap(({ personal }) => Object.entries<PersonalTable>(personal))
    .filter(([, { owner, personal }]) => owner !== null && Object.keys(personal).length > 0),
)

/** All columns of the register that the law keeps for years, or all that it does not. */
export const columnsOf = (isKept: boolean): string[] =>
  [...registered]
    .flatMap(([table, { personal }]) =>
      Object.entries(personal)
        .filter(([, { ground }]) => legalGrounds[ground].years > 0 === isKept)
        .map(([column]) => `${table}.${column}`),
    )
    .sort()

/** Columns of JSON that hold a list. */
const LISTS: readonly string[] = ['disputes.words', 'onboardings.information_requests']

/** Of an object of which only some members are forgotten, these. */
const markedMembers = (members: string): string =>
  JSON.stringify(Object.fromEntries(Object.keys(JSON.parse(members)).map(name => [name, MARK])))

const marked = (type: string, isList: boolean): string | undefined =>
  ({
    text: MARK,
    jsonb: JSON.stringify(isList ? [MARK] : { name: MARK, list: [{ comment: MARK }] }),
    'text[]': `{"${MARK}"}`,
    date: MARKED_DATE,
  })[type]

const anything = (type: string): unknown =>
  ({
    text: 'x',
    jsonb: '{}',
    'text[]': '{}',
    bytea: '',
    boolean: false,
    date: '2026-01-01',
    xid8: '1',
  })[type] ?? (type.endsWith('[]') ? '{}' : type.startsWith('timestamp') ? '2026-01-01T00:00:00Z' : 0)

function cellOf({ table, column, type, needed }: Column, ownerId: string): unknown {
  if (column === 'owner_id' || (table === 'customers' && column === 'id')) return ownerId
  if (column === 'mode') return 'test'
  if (column === 'id' && table === 'events') return newId('event')
  if (column === 'action') return 'a.b'
  if (column === 'actor_type') return 'operator'
  const personal = registered.get(table)?.personal[column]
  if (personal && typeof personal.forget === 'object' && 'members' in personal.forget)
    return markedMembers(personal.forget.members)
  if (personal) return marked(type, LISTS.includes(`${table}.${column}`))
  return needed ? anything(type) : undefined
}

/** A row in each table of the register, with the mark in every personal column. No rule of the tables counts meanwhile. */
export async function plant(sql: Sql, ownerId: string): Promise<void> {
  const columns = await sql<Column>(COLUMNS)
  for (const table of registered.keys()) {
    const row = columns
      .filter(one => one.table === table)
      .flatMap(one => {
        const value = cellOf(one, ownerId)
        return value === undefined ? [] : [[one.column, value] as const]
      })
    const names = row.map(([name]) => `"${name}"`)
    const places = row.map((_, n) => `$${n + 1}`)
    const values = row.map(([, value]) => value)
    if (table === 'customers') await sql('delete from customers where id = $1', [ownerId])
    await sql(`insert into ${table} (${names}) values (${places})`, values)
  }
}

/** Every column of every table of the database that holds the mark, as `table.column`. */
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
