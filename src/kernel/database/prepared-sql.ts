import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import pg from 'pg'
import type { Sql } from '../contract/sql.ts'
import { runGrouped } from './grouped-statements.ts'

/** The process's connection pool. */
export interface Database {
  readonly pool: Pool
}

const { builtins, getTypeParser } = pg.types
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    oid === builtins.INT8 ? BigInt : getTypeParser(oid, format),
} as pg.CustomTypesConfig

const statementNames = new Map<string, string>()

/** Names a statement by its text, so that each connection prepares it once: hot paths run few statements very often. */
function statementName(text: string): string {
  const existing = statementNames.get(text)
  if (existing) return existing
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 24)
  statementNames.set(text, name)
  return name
}

const queryOf = (text: string, values: readonly unknown[] = []) => ({
  text,
  values: [...values],
  types,
  name: statementName(text),
})

/** Runs SQL on one connection, or on any of a pool. */
export const sqlOn =
  (connection: Pool | PoolClient): Sql =>
  async (text, values) => {
    const { rows } = await connection.query(queryOf(text, values))
    return rows
  }

/**
 * Runs the SQL of one transaction, or of reads that need each other; what is sent in one turn of the event loop is answered
 * in one go. After a statement has failed, PostgreSQL refuses those behind it without a reason: they
 * fail as the first one did, so whichever is awaited tells what has happened.
 */
export function sqlOfTransaction(client: PoolClient): Sql {
  let failure: unknown
  return async (text, values) => {
    try {
      return (await runGrouped(client, queryOf(text, values))).rows
    } catch (error) {
      failure ??= error
      throw failure
    }
  }
}
