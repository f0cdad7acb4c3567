import { setTimeout as pause } from 'node:timers/promises'
import type { EntityManager, Transaction } from '@mikro-orm/postgresql'
import { Kysely, PostgresDialect } from 'kysely'
import type { PoolClient } from 'pg'
import { clock } from './clock.ts'
import type { Database } from './database.ts'
import { Problem } from './problem.ts'
import { isLost } from './transaction.ts'

/** A transaction on a connection of its own, which is given back whatever becomes of it; one that broke is thrown away. */
export async function onConnection<T>(
  { pool }: Database,
  begin: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query(begin)
    return await work(client)
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    client.release(broken)
  }
}

const seenByOrm = new WeakMap<PoolClient, Transaction>()

/**
 * Entities on this connection. MikroORM is told that a transaction is open; it neither begins nor ends it, as it
 * would never give back a connection that was lost in between.
 */
export function entitiesOn(database: Database, client: PoolClient): EntityManager {
  const em = database.fork()
  const known = seenByOrm.get(client)
  const transaction = known ?? asTransaction(client)
  if (!known) seenByOrm.set(client, transaction)
  em.setTransactionContext(transaction)
  return em
}

function asTransaction(client: PoolClient): Transaction {
  const held = { query: client.query.bind(client), release: () => undefined } as unknown as PoolClient
  const pool = { connect: async () => held, end: async () => undefined, options: {} }
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/** Commits the transaction of this number, and knows that it has even where the answer was lost. */
export async function commit(database: Database, client: PoolClient, id: string): Promise<void> {
  try {
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('an error before the commit has undone the transaction')
  } catch (error) {
    if (!isLost(error) || (await fateOf(database, id)) === 'aborted') throw error
  }
}

/**
 * After a connection that was lost at commit: what became of the transaction whose number was noted
 * beforehand. Asked until the server says it, never guessed.
 */
async function fateOf(database: Database, id: string): Promise<'committed' | 'aborted'> {
  const giveUp = clock.ticks() + 10_000
  while (clock.ticks() < giveUp) {
    const fate = await ask(database, id)
    if (fate === 'committed' || fate === 'aborted') return fate
    await pause(100)
  }
  throw new Problem('outcome_unknown', undefined, { 'Retry-After': '5' })
}

async function ask({ pool }: Database, id: string): Promise<string | undefined> {
  try {
    const { rows } = await pool.query('select pg_xact_status($1::xid8) as fate', [id])
    return rows[0]?.fate
  } catch {
    return undefined
  }
}
