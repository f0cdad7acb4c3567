import type { Row, Sql } from '../../kernel/contract/sql.ts'

const NAMES = 'select id, name from customers where id = any($1::text[])'

/** The names under which owners are known to others who pay them or are paid by them. */
export async function holderNames(
  sql: Sql,
  ownerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ownerIds.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string } & Row>(NAMES, [[...new Set(ownerIds)]])
  return new Map(rows.map(({ id, name }) => [id, name]))
}
