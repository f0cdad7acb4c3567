import type { Pool, PoolClient } from 'pg'
import { runAlone, runInPipeline, sendPipeline } from '../../record-store/index.ts'
import type { Row, Sql } from '../contract/sql.ts'

/** The process's connection pool. */
export interface Database {
  readonly pool: Pool
}

const transactionsEnded = new WeakMap<Pool | PoolClient, number>()

const endedOn = (connection: Pool | PoolClient): number => transactionsEnded.get(connection) ?? 0

/** From here on the connection belongs to another transaction: SQL of before has been sent, and what comes later fails. */
export function endTransaction(client: PoolClient): void {
  sendPipeline(client)
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
  return async <R extends Row>(text: string, values?: readonly unknown[]) => {
    assertNotEnded(connection, before, text)
    return (await runAlone(connection, text, values)) as R[]
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
