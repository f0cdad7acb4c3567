import type { Pool, PoolClient } from 'pg'
import type { Row, Sql } from '../contract/sql.ts'
import { runInPipeline, runPreparedStatement, sendPipeline } from './pipeline.ts'

export interface Database {
  readonly pool: Pool
}

const transactionsEnded = new WeakMap<Pool | PoolClient, number>()

const endedOn = (connection: Pool | PoolClient): number => transactionsEnded.get(connection) ?? 0

/** Later SQL of the transaction fails: it would follow the end of it, which is queued. */
export function refuseLaterSql(client: PoolClient): void {
  transactionsEnded.set(client, endedOn(client) + 1)
}

/**
 * After this the connection belongs to another transaction: pending SQL has been sent, and later SQL of this
 * one fails.
 */
export function endTransaction(client: PoolClient): void {
  sendPipeline(client)
  refuseLaterSql(client)
}

/** Throws if the transaction has ended: the statement would run in another one, or in none. */
function assertNotEnded(connection: Pool | PoolClient, before: number, text: string): void {
  if (endedOn(connection) === before) return
  throw new Error(
    `A statement was sent after the end of its transaction: await it before the handler answers, or read in a transaction of its own. ${text.trim().slice(0, 100)}`,
  )
}

/** Runs SQL on one connection until its transaction ends, or on any of a pool. */
export function sqlOn(connection: Pool | PoolClient): Sql {
  const before = endedOn(connection)
  return async <R extends Row>(text: string, values?: readonly unknown[]) => {
    assertNotEnded(connection, before, text)
    return (await runPreparedStatement(connection, text, values)) as R[]
  }
}

/**
 * Runs the SQL of one transaction, or of reads that need each other; statements sent in one turn of the event
 * loop share a round trip. After a statement has failed, PostgreSQL refuses those behind it without a reason:
 * they fail with the first one's error, so any of them tells what happened.
 */
export function sqlOfTransaction(client: PoolClient): Sql {
  let failure: unknown
  const before = endedOn(client)
  return async <R extends Row>(text: string, values?: readonly unknown[]) => {
    assertNotEnded(client, before, text)
    try {
      return (await runInPipeline(client, text, values)) as R[]
    } catch (error) {
      failure ??= error
      throw failure
    }
  }
}
