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

const transactionsEnded = new WeakMap<Pool | PoolClient, number>()

const endedOn = (connection: Pool | PoolClient): number => transactionsEnded.get(connection) ?? 0

/** From here on the connection belongs to whoever takes it next: SQL of before fails. */
export function endTransaction(client: PoolClient): void {
  transactionsEnded.set(client, endedOn(client) + 1)
}

/** Throws when the transaction of an earlier `endedOn` has ended: the statement would run in another's, or in none. */
function assertNotEnded(connection: Pool | PoolClient, before: number, text: string): void {
  if (endedOn(connection) === before) return
  throw new Error(
    `A statement was sent after the end of its transaction: await it before the handler answers, or read in a transaction of its own. ${text.trim().slice(0, 100)}`,
  )
}

/** Runs SQL on one connection until its transaction ends, or on any of a pool. */
export function sqlOn(connection: Pool | PoolClient): Sql {
  const before = endedOn(connection)
  return async (text, values) => {
    assertNotEnded(connection, before, text)
    const { rows } = await connection.query(queryOf(text, values))
    return rows
  }
}

/**
 * Runs the SQL of one transaction, or of reads that need each other; what is sent in one turn of the event loop is answered
 * in one go. After a statement has failed, PostgreSQL refuses those behind it without a reason: they
 * fail as the first one did, so whichever is awaited tells what has happened.
 */
export function sqlOfTransaction(client: PoolClient): Sql {
  let failure: unknown
  const before = endedOn(client)
  return async (text, values) => {
    assertNotEnded(client, before, text)
    try {
      return (await runGrouped(client, queryOf(text, values))).rows
    } catch (error) {
      failure ??= error
      throw failure
    }
  }
}
