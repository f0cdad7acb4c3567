import type { Tenant } from '../contract/actor.ts'
import type { Row, Sql } from '../contract/sql.ts'
import { selectList } from './bulk-sql.ts'
import type { Table } from './hot-table.ts'

/** Gives rows of a tenant by their ids; a record of another tenant is left out. */
export type FindById<R> = (
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, R>>

const byId =
  (lock: string) =>
  <R extends { id: string }>(table: Table<R>): FindById<R> => {
    const text = `
select ${selectList(table, 'one')} from ${table.name} one
where one.owner_id = $1 and one.mode = $2 and one.id = any($3::text[])${lock}`
    return async (sql, { ownerId, mode }, ids) => {
      if (ids.length === 0) return new Map()
      const rows = await sql<R & Row>(text, [ownerId, mode, ids])
      return new Map(rows.map(row => [row.id, row]))
    }
  }

/** Reads the rows without a lock. */
export const rowsById = byId('')

/** Locks the rows in the order of their ids, and gives them as they are once locked. */
export const lockedRowsById = byId('\norder by one.id for no key update')
