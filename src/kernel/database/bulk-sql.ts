import type { Sql } from '../contract/sql.ts'

import type { Column, Table } from './hot-table.ts'

const columnsOf = <R extends { id: string }>({ columns }: Table<R>, members?: readonly string[]) =>
  columns.filter(({ member }) => members?.includes(member) ?? true)

/** `i.owner_id as "ownerId", …`, of all members or of these. A day stays text, as entities have it. */
export const selectList = <R extends { id: string }>(
  table: Table<R>,
  alias: string,
  members?: readonly (keyof R & string)[],
): string =>
  columnsOf(table, members)
    .map(({ member, name, type }) => `${alias}.${name}${type === 'date' ? '::text' : ''} as "${member}"`)
    .join(', ')

const recordset = (columns: readonly Column[], place = '$1'): string =>
  `jsonb_to_recordset(${place}::jsonb) as r(${columns.map(({ member, type }) => `"${member}" ${type}`).join(', ')})`

function insertion<R extends { id: string }>(table: Table<R>, place: string): string {
  const columns = columnsOf(table)
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ member }) => `r."${member}"`).join(', ')
  return `insert into ${table.name} (${names}) select ${values} from ${recordset(columns, place)}`
}

/** All rows in one statement. */
export function insertInto<R extends { id: string }>(
  table: Table<R>,
): (sql: Sql, rows: readonly R[]) => Promise<void> {
  const columns = columnsOf(table)
  const text = insertion(table, '$1')
  return async (sql, rows) => {
    if (rows.length > 0) await sql(text, [asJson(rows, columns)])
  }
}

/** The rows of two tables in one statement: one way to the database less. */
export function insertIntoBoth<A extends { id: string }, B extends { id: string }>(
  one: Table<A>,
  other: Table<B>,
): (sql: Sql, rows: readonly A[], others: readonly B[]) => Promise<void> {
  const text = `with first as (${insertion(one, '$1')}) ${insertion(other, '$2')}`
  return async (sql, rows, others) => {
    if (rows.length + others.length > 0)
      await sql(text, [asJson(rows, columnsOf(one)), asJson(others, columnsOf(other))])
  }
}

/** These members of all rows in one statement, each found by its id. */
export function updateOf<R extends { id: string }, M extends keyof R & string>(
  table: Table<R>,
  members: readonly M[],
): (sql: Sql, rows: readonly Pick<R, M | 'id'>[]) => Promise<void> {
  const changed = columnsOf(table, members)
  const known = columnsOf(table, ['id', ...members])
  const set = changed.map(({ member, name }) => `${name} = r."${member}"`).join(', ')
  // The ids once more by themselves: of the recordset PostgreSQL does not know that it is short, and would read all rows.
  const text = `update ${table.name} as kept set ${set} from ${recordset(known)} where kept.id = r.id and kept.id = any($2::text[])`
  return async (sql, rows) => {
    if (rows.length > 0) await sql(text, [asJson(rows, known), rows.map(({ id }) => id)])
  }
}

/** Only what is there: a member that is missing is null, and half of an intent is. */
const asJson = (rows: readonly object[], columns: readonly Column[]): string =>
  JSON.stringify(rows.map(row => lean(row as Record<string, unknown>, columns)))

function lean(row: Readonly<Record<string, unknown>>, columns: readonly Column[]): Record<string, unknown> {
  const there: Record<string, unknown> = {}
  for (const { member } of columns) {
    const value = row[member]
    if (value !== null) there[member] = exact(value)
  }
  return there
}

/** An amount keeps all its digits on the way into the database. */
export const exact = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
