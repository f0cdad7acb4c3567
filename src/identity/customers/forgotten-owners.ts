import type { Row, Sql } from '../../kernel/contract/sql.ts'

const FORGOTTEN = `select id from customers where id = any($1::text[]) and suspended_by = 'forgotten'`

/** Those of these owners who are forgotten: nobody acts for their accounts any more. */
export async function forgottenOwners(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<Row & { id: string }>(FORGOTTEN, [[...new Set(ids)]])
  return new Set(rows.map(({ id }) => id))
}
