import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'
import type { Column, Table } from './table.ts'

const membersOf = <R extends { id: string }>({ columns }: Table<R>, members?: readonly string[]) =>
  columns.filter(({ member }) => members?.includes(member) ?? true)

const columnsOf = <R extends { id: string }>(table: Table<R>, members?: readonly string[]) =>
  membersOf(table, members).filter(({ formula }) => formula === undefined)

/** `i.owner_id as "ownerId", …`, of all members or of these. A day stays text, as entities have it. */
export const selectColumnList = <R extends { id: string }>(
  table: Table<R>,
  alias: string,
  members?: readonly (keyof R & string)[],
): string =>
  membersOf(table, members)
    .map(
      ({ member, name, type, formula }) =>
        `${formula ? `(${formula(alias)})` : `${alias}.${name}${type === 'date' ? '::text' : ''}`} as "${member}"`,
    )
    .join(', ')

const recordset = (columns: readonly Column[], place = '$1'): string =>
  `jsonb_to_recordset(${place}::jsonb) as r(${columns.map(({ member, type }) => `"${member}" ${type}`).join(', ')})`

function insertion<R extends { id: string }>(table: Table<R>, place: string): string {
  const columns = columnsOf(table)
  const names = columns.map(({ name }) => name).join(', ')
  const values = columns.map(({ member }) => `r."${member}"`).join(', ')
  return `insert into ${table.name} (${names}) select ${values} from ${recordset(columns, place)}`
}

/**
 * Inserts all rows in one statement. A single row is sent without JSON: reading its members takes longer than
 * inserting them.
 */
export function insertInto<R extends { id: string }>(
  table: Table<R>,
): (sql: Sql, rows: readonly R[]) => Promise<void> {
  const columns = columnsOf(table)
  const text = insertion(table, '$1')
  const names = columns.map(({ name }) => name).join(', ')
  const textOfOne = `insert into ${table.name} (${names}) values (${columns.map((_, n) => `$${n + 1}`).join(', ')})`
  return async (sql, rows) => {
    const [row, ...others] = rows
    if (row && others.length === 0) await sql(textOfOne, valuesOf(row, columns))
    else if (row) await sql(text, [asJson(rows, columns)])
  }
}

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

// `any` repeats the ids: PostgreSQL cannot tell that the recordset is short, and would read all rows.
function updateText<R extends { id: string }>(table: Table<R>, members: readonly string[]): string {
  const changed = columnsOf(table, members)
  const set = changed.map(({ member, name }) => `${name} = r."${member}"`).join(', ')
  const rows = recordset(columnsOf(table, ['id', ...members]))
  return `update ${table.name} as stored set ${set} from ${rows} where stored.id = r.id and stored.id = any($2::text[])`
}

export function updateOf<R extends { id: string }, M extends keyof R & string>(
  table: Table<R>,
  members: readonly M[],
): (sql: Sql, tenant: Tenant, rows: readonly Pick<R, M | 'id'>[]) => Promise<void> {
  const columns = columnsOf(table, ['id', ...members])
  const text = `${updateText(table, members)} and stored.owner_id = $3 and stored.mode = $4`
  const changed = columnsOf(table, members)
  const set = changed.map(({ name }, n) => `${name} = $${n + 4}`).join(', ')
  const textOfOne = `update ${table.name} set ${set} where owner_id = $1 and mode = $2 and id = $3`
  return async (sql, { ownerId, mode }, rows) => {
    const [row, ...others] = rows
    if (row && others.length === 0) await sql(textOfOne, [ownerId, mode, row.id, ...valuesOf(row, changed)])
    else if (row) await sql(text, [asJson(rows, columns), rows.map(({ id }) => id), ownerId, mode])
  }
}

/** Updates rows of any tenant: for queues, which serve all tenants, and for tables without one. */
export function updateOfAnyTenant<R extends { id: string }, M extends keyof R & string>(
  table: Table<R>,
  members: readonly M[],
): (sql: Sql, rows: readonly Pick<R, M | 'id'>[]) => Promise<void> {
  const columns = columnsOf(table, ['id', ...members])
  const text = updateText(table, members)
  return async (sql, rows) => {
    if (rows.length > 0) await sql(text, [asJson(rows, columns), rows.map(({ id }) => id)])
  }
}

export const deletionFrom =
  <R extends { id: string }>({ name }: Table<R>) =>
  async (sql: Sql, { ownerId, mode }: Tenant, rows: readonly Pick<R, 'id'>[]): Promise<void> => {
    const ids = rows.map(({ id }) => id)
    await sql(`delete from ${name} where owner_id = $1 and mode = $2 and id = any($3::text[])`, [
      ownerId,
      mode,
      ids,
    ])
  }

/** The driver would write a list as a PostgreSQL array, in a column of JSON, too. */
const valuesOf = (row: object, columns: readonly Column[]): unknown[] =>
  columns.map(({ member, type }) => {
    const value = (row as Record<string, unknown>)[member] ?? null
    return type === 'jsonb' && value !== null ? JSON.stringify(value) : value
  })

/** Leaves out null members: a missing member reads as null, and half the members of an intent are null. */
const asJson = (rows: readonly object[], columns: readonly Column[]): string =>
  JSON.stringify(rows.map(row => withoutNulls(row as Record<string, unknown>, columns)))

function withoutNulls(
  row: Readonly<Record<string, unknown>>,
  columns: readonly Column[],
): Record<string, unknown> {
  const members: Record<string, unknown> = {}
  for (const { member } of columns) {
    const value = row[member]
    if (value !== null) members[member] = bigintAsText(value)
  }
  return members
}

/** Amounts are written as text: JSON numbers would lose digits. */
export const bigintAsText = (value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value)

type FindById<R> = (sql: Sql, tenant: Tenant, ids: readonly string[]) => Promise<ReadonlyMap<string, R>>

const byId =
  (lock: string) =>
  <R extends { id: string }>(table: Table<R>): FindById<R> => {
    const text = `
select ${selectColumnList(table, 'one')} from ${table.name} one
where one.owner_id = $1 and one.mode = $2 and one.id = any($3::text[])${lock}`
    return async (sql, { ownerId, mode }, ids) => {
      if (ids.length === 0) return new Map()
      const rows = await sql<R & Row>(text, [ownerId, mode, ids])
      return new Map(rows.map(row => [row.id, row]))
    }
  }

export const rowsById = byId('')

/** Locks the rows in the order of their ids, and returns them as they are once locked. */
export const lockedRowsById = byId('\norder by one.id for no key update')
