import { createHash } from 'node:crypto'
import type { EntityManager } from '@mikro-orm/postgresql'
import type { Pool, PoolClient } from 'pg'
import pg from 'pg'
import type { Sql } from '../contract/sql.ts'

/** The one pool, seen as entities and as plain SQL. */
export interface Database {
  fork(): EntityManager
  readonly pool: Pool
}

const { builtins, getTypeParser } = pg.types
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === builtins.INT8 ? BigInt : getTypeParser(oid, format),
} as pg.CustomTypesConfig

const statementNames = new Map<string, string>()

/** The same text is prepared once per connection: the hot paths run few statements, very often. */
function statementName(text: string): string {
  const known = statementNames.get(text)
  if (known) return known
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  statementNames.set(text, name)
  return name
}

/** SQL on one connection, or on any of the pool. */
export const sqlOn =
  (connection: Pool | PoolClient): Sql =>
  async (text, values = []) => {
    const { rows } = await connection.query({ text, values: [...values], types, name: statementName(text) })
    return rows
  }
