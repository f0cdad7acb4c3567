import type { Sql } from '../contract/sql.ts'

/** A table as the hot paths see it: for each member its column and type. Entities serve everything else. */
export interface Table<R extends { id: string }> {
  readonly name: string
  readonly columns: Readonly<Record<keyof R & string, readonly [column: string, type: string]>>
}

/** The columns that every tenant's record has, as `record()` says it to entities. */
export const recordColumns = {
  id: ['id', 'text'],
  ownerId: ['owner_id', 'text'],
  mode: ['mode', 'text'],
  createdAt: ['created_at', 'timestamptz'],
  updatedAt: ['updated_at', 'timestamptz'],
} as const

type Columns = readonly (readonly [member: string, column: readonly [name: string, type: string]])[]

const columnsOf = <R extends { id: string }>({ columns }: Table<R>, members?: readonly string[]): Columns =>
  Object.entries<readonly [string, string]>(columns).filter(([member]) => members?.includes(member) ?? true)

/** `i.owner_id as "ownerId", …` */
export const selectList = <R extends { id: string }>(table: Table<R>, alias: string): string =>
  columnsOf(table)
    .map(([member, [column]]) => `${alias}.${column} as "${member}"`)
    .join(', ')

const recordset = (columns: Columns, place = '$1'): string =>
  `jsonb_to_recordset(${place}::jsonb) as r(${columns.map(([member, [, type]]) => `"${member}" ${type}`).join(', ')})`

function insertion<R extends { id: string }>(table: Table<R>, place: string): string {
  const columns = columnsOf(table)
  const names = columns.map(([, [column]]) => column).join(', ')
  const values = columns.map(([member]) => `r."${member}"`).join(', ')
  return `insert into ${table.name} (${names}) select ${values} from ${recordset(columns, place)}`
}

/** Inserts all rows in one statement. */
export function insertInto<R extends { id: string }>(
  table: Table<R>,
): (sql: Sql, rows: readonly R[]) => Promise<void> {
  const columns = columnsOf(table)
  const text = insertion(table, '$1')
  return async (sql, rows) => {
    if (rows.length > 0) await sql(text, [asJson(rows, columns)])
  }
}

/** Inserts rows into two tables in one statement, saving a round trip. */
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

/** Updates these members of all rows, found by id, in one statement. */
export function updateOf<R extends { id: string }>(
  table: Table<R>,
  members: readonly (keyof R & string)[],
): (sql: Sql, rows: readonly R[]) => Promise<void> {
  const changed = columnsOf(table, members)
  const known = columnsOf(table, ['id', ...members])
  const set = changed.map(([member, [column]]) => `${column} = r."${member}"`).join(', ')
  // `any` repeats the ids: PostgreSQL cannot tell that the recordset is short, and would read all rows.
  const text = `update ${table.name} as stored set ${set} from ${recordset(known)} where stored.id = r.id and stored.id = any($2::text[])`
  return async (sql, rows) => {
    if (rows.length > 0) await sql(text, [asJson(rows, known), rows.map(({ id }) => id)])
  }
}

/** Leaves out null members: a missing member reads as null, and half the members of an intent are null. */
const asJson = (rows: readonly object[], columns: Columns): string =>
  JSON.stringify(rows.map(row => withoutNulls(row as Record<string, unknown>, columns)))

function withoutNulls(row: Readonly<Record<string, unknown>>, columns: Columns): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const [member] of columns) {
    const value = row[member]
    if (value !== null) members[member] = exact(value)
  }
  return members
}

/** Amounts are written as text: JSON numbers would lose digits. */
export const exact = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)
