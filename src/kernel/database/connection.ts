import { setTimeout as pause } from 'node:timers/promises'
import type { PoolClient } from 'pg'
import { clock } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import { commandInPipeline } from './pipeline.ts'
import { type Database, endTransaction, refuseLaterSql, sqlOfTransaction, sqlOn } from './prepared-sql.ts'
import { isConnectionLost } from './retry.ts'

/**
 * Runs a transaction on a connection of its own, which always goes back to the pool, or is closed if it
 * broke. The commands that begin it are sent with the first statement of the work: if one fails, so does that
 * statement. Null opens no transaction: for reads, which are then sent together on one connection.
 */
export async function onConnection<T>(
  { pool }: Database,
  begin: string | readonly string[] | null,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    for (const command of [begin ?? []].flat())
      commandInPipeline(client, () => command).catch(() => undefined)
    return await work(client)
  } catch (error) {
    broken = isConnectionLost(error) ? (error as Error) : await failureOf(rollBack(client))
    throw error
  } finally {
    endTransaction(client)
    client.release(broken)
  }
}

/** What of the work still runs can send no more: behind the rollback it would be kept. */
function rollBack(client: PoolClient): Promise<string> {
  const rolledBack = commandInPipeline(client, () => 'rollback')
  refuseLaterSql(client)
  return rolledBack
}

const failureOf = (work: Promise<unknown>): Promise<Error | undefined> =>
  work.then(
    () => undefined,
    (failure: Error) => failure,
  )

/** Identifies a transaction after its connection is lost: its id, and an event that only it writes. */
interface TransactionTrace {
  readonly id: string
  readonly event: (Tenant & { readonly id: string }) | undefined
}

/**
 * Commits together with the pending statements: if one of them fails, the commit is skipped, or rolls back. One that
 * fails before it is sent makes it a rollback; one that comes too late for the commit fails, too. If the connection is
 * lost meanwhile, finds out whether the commit succeeded.
 */
export async function commit(
  database: Database,
  client: PoolClient,
  trace: TransactionTrace,
  underWay: readonly Promise<unknown>[] = [],
): Promise<void> {
  let hasFailed = false
  for (const statement of underWay)
    statement.catch(() => {
      hasFailed = true
    })
  try {
    const committed = commandInPipeline(client, () => (hasFailed ? 'rollback' : 'commit'))
    refuseLaterSql(client)
    const settled = await Promise.allSettled([...underWay, committed])
    const failed = settled.find(statement => statement.status === 'rejected')
    if (failed) throw failed.reason
    if ((await committed) !== 'COMMIT')
      throw new Error('an error before the commit has undone the transaction')
  } catch (error) {
    if (!isConnectionLost(error) || (await commitOutcome(database, trace)) === 'aborted') throw error
  }
}

type CommitOutcome = 'committed' | 'aborted'

/** The outcome of a commit could not be learnt in time; it can be asked for later. */
export class UnknownCommitOutcome extends Problem {
  readonly trace: TransactionTrace

  constructor(trace: TransactionTrace) {
    super('outcome_unknown', undefined, { 'Retry-After': '5' })
    this.trace = trace
  }
}

/** How long the server is asked for the outcome; the caller waits as long. */
const OUTCOME_TIMEOUT_MS = 5_000

/**
 * The outcome of a commit whose connection was lost: asked of the server until it answers, never guessed.
 * Every change writes an event; the outcome of a transaction without one cannot be known.
 */
async function commitOutcome(database: Database, trace: TransactionTrace): Promise<CommitOutcome> {
  const giveUp = clock.ticks() + OUTCOME_TIMEOUT_MS
  while (trace.event && clock.ticks() < giveUp) {
    const fate = await readCommitOutcome(database, trace)
    if (fate) return fate
    await pause(100)
  }
  throw new UnknownCommitOutcome(trace)
}

/**
 * Reads from one snapshot whether the event is there and whether it can still come. An id at or above the
 * server's next one was lost in a crash and will be given to another transaction, so `pg_xact_status` would
 * prove nothing.
 */
const COMMIT_OUTCOME = `
select exists (select from events where owner_id = $2 and mode = $3 and id = $4) as done,
  pg_visible_in_snapshot($1::xid8, pg_current_snapshot()) or pg_current_xact_id() <= $1::xid8 as over`

export async function readCommitOutcome(
  { pool }: Database,
  { id, event }: TransactionTrace,
): Promise<CommitOutcome | undefined> {
  if (!event) return undefined
  try {
    const { rows } = await pool.query<{ done: boolean; over: boolean }>(COMMIT_OUTCOME, [
      id,
      event.ownerId,
      event.mode,
      event.id,
    ])
    if (rows[0]?.done) return 'committed'
    return rows[0]?.over ? 'aborted' : undefined
  } catch {
    return undefined
  }
}

/** The lock's name begins with `alone` in every version that may run beside this one. */
const TRY_LOCK = `select pg_try_advisory_xact_lock(hashtextextended('alone ' || $1, 0)) as "isOurs"`

/** A long read, one at a time per name across all processes; undefined where another one holds that name. */
export const readExclusively = <T>(
  database: Database,
  name: string,
  work: (sql: Sql) => Promise<T>,
): Promise<T | undefined> =>
  onConnection(database, 'begin read only', async client => {
    const sql = sqlOn(client)
    const [lock] = await sql<{ isOurs: boolean }>(TRY_LOCK, [name])
    const result = lock?.isOurs ? await work(sql) : undefined
    await commandInPipeline(client, () => 'commit')
    return result
  })

/** One snapshot: the work sees what was committed when its first statement began. */
export const readSnapshot = <T>(database: Database, work: (sql: Sql) => Promise<T>): Promise<T> =>
  onConnection(database, 'begin isolation level repeatable read read only', async client => {
    const result = await work(sqlOfTransaction(client))
    await commandInPipeline(client, () => 'commit')
    return result
  })
