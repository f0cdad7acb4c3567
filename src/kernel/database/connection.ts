import { setTimeout as pause } from 'node:timers/promises'
import type { EntityManager, Transaction } from '@mikro-orm/postgresql'
import { Kysely, PostgresDialect } from 'kysely'
import type { PoolClient } from 'pg'
import { clock } from '../../values/clock.ts'
import { Problem } from '../contract/problem.ts'
import type { Database } from './prepared-sql.ts'
import { isLost } from './retry.ts'

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
    broken = isLost(error) ? (error as Error) : await failureOf(client.query('rollback'))
    throw error
  } finally {
    client.release(broken)
  }
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (failure: Error) => failure,
  )

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

/** By what a transaction is known when its connection is lost: its number, and a row of the audit that only it writes. */
interface Trace {
  readonly id: string
  /** Undefined where it changes nothing. */
  readonly auditId: string | undefined
}

/** Commits, and knows that it has even where the answer was lost. */
export async function commit(database: Database, client: PoolClient, trace: Trace): Promise<void> {
  try {
    const { command } = await client.query('commit')
    if (command !== 'COMMIT') throw new Error('an error before the commit has undone the transaction')
  } catch (error) {
    if (!isLost(error) || (await fateOf(database, trace)) === 'aborted') throw error
  }
}

type Fate = 'committed' | 'aborted'

/** How long the server is asked; whoever waits for us waits as long. */
const PATIENCE = 5_000

/**
 * After a connection that was lost at commit: asked until the server says it, never guessed. Every change leaves an
 * audit row; of a transaction that left none nothing can be known.
 */
async function fateOf(database: Database, { id, auditId }: Trace): Promise<Fate> {
  const giveUp = clock.ticks() + PATIENCE
  while (auditId && clock.ticks() < giveUp) {
    const fate = await ask(database, id, auditId)
    if (fate) return fate
    await pause(100)
  }
  throw new Problem('outcome_unknown', undefined, { 'Retry-After': '5' })
}

/**
 * Both from one snapshot: is the row there, and can it still come? A number as high as the server's next one was lost
 * in a crash; the server gives it to another transaction, so what `pg_xact_status` says of it proves nothing.
 */
const FATE = `
select exists (select from audit_entries where id = $2) as done,
  pg_visible_in_snapshot($1::xid8, pg_current_snapshot()) or pg_current_xact_id() <= $1::xid8 as over`

async function ask({ pool }: Database, id: string, auditId: string): Promise<Fate | undefined> {
  try {
    const { rows } = await pool.query<{ done: boolean; over: boolean }>(FATE, [id, auditId])
    if (rows[0]?.done) return 'committed'
    return rows[0]?.over ? 'aborted' : undefined
  } catch {
    return undefined
  }
}
