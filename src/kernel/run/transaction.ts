import { clock } from '../../values/clock.ts'
import { type ApiCall, type ApiResponse, endedRunProblem } from '../contract/call.ts'
import type { Problem } from '../contract/problem.ts'
import type { Sql } from '../contract/sql.ts'
import { commit, onConnection } from '../database/connection.ts'
import { flushesSentOn } from '../database/entity-manager.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import {
  findStoredAnswers,
  idempotencyLockName,
  inProgressProblem,
  replayStoredAnswer,
  type ScopedIdempotencyKey,
  type StoredAnswer,
  scopedIdempotencyKey,
} from '../journal/idempotency.ts'
import { emptyJournal, POSSIBLY_NEW_ROWS, writeJournal } from '../journal/journal.ts'
import { type JoinedTransaction, notifyListeners, type OperationRuntime } from './runtime.ts'
import { inSpanOfTransaction } from './spans.ts'

export interface Transaction extends JoinedTransaction {
  readonly now: Date
}

export interface CallInTransaction<C extends ApiCall = ApiCall> {
  readonly call: C
  readonly key: ScopedIdempotencyKey | null
  readonly stored: StoredAnswer | undefined
  readonly problem: Problem | undefined
}

const openingStatement = (lock: string): string => `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  array(select ${lock} from unnest($3::text[]) with ordinality as l(name, n) order by n) as locked`

/** The first statement of a transaction: its id, the tenant's clock, and the locks of the idempotency keys. */
const OPEN = {
  /** Does not wait for a key that another request holds: that call gets 409 `in_progress`. */
  refuse: openingStatement('pg_try_advisory_xact_lock(hashtextextended(name, 0))'),
  /** Waits for the key: the answer of another system must be recorded. */
  wait: openingStatement('pg_advisory_xact_lock(hashtextextended(name, 0))::text is not null'),
}

export interface TransactionOptions {
  readonly whenLocked?: keyof typeof OPEN
  readonly lockTimeoutMs?: number
  readonly onCommit?: (statements: number) => void
}

const LOCK_TIMEOUT_MS = 3_000

/**
 * Runs `work` for calls of one tenant in a transaction, and commits it with its journal; retries where that
 * can succeed.
 */
export const inTransaction = <C extends ApiCall, T>(
  runtime: OperationRuntime,
  calls: readonly C[],
  { whenLocked = 'refuse', lockTimeoutMs = LOCK_TIMEOUT_MS, onCommit }: TransactionOptions,
  work: (tx: Transaction, opened: readonly CallInTransaction<C>[]) => Promise<T>,
): Promise<T> =>
  inSpanOfTransaction(runtime, calls, () =>
    onConnection(
      runtime.database,
      ['begin', `set local lock_timeout = '${lockTimeoutMs}ms'`],
      async client => {
        let statements = 2
        const plainSql = sqlOfTransaction(client)
        const sql: Sql = (text, values) => {
          statements++
          return plainSql(text, values)
        }
        const { id, now, opened } = await open(calls, whenLocked, sql)
        const journal = emptyJournal()
        const tx = { sql, now, journal, pendingStatements: [] }
        const result = await work(tx, opened)
        await flushesSentOn(sql)
        const written = writeJournal(sql, journal)
        await commit(runtime.database, client, { id, event: journal.events[0] }, [
          ...tx.pendingStatements,
          written,
        ])
        notifyListeners(runtime, journal, await written.catch(() => POSSIBLY_NEW_ROWS))
        onCommit?.(statements)
        return result
      },
    ),
  )

/** HEAD changes nothing, even where the GET writes: what its transaction has done is rolled back. */
class RolledBack<T> extends Error {
  readonly result: T

  constructor(result: T) {
    super('rolled back')
    this.result = result
  }
}

export const inOwnTransaction = <T>(
  runtime: OperationRuntime,
  call: ApiCall,
  work: (tx: Transaction, opened: CallInTransaction) => Promise<T>,
  whenLocked: TransactionOptions['whenLocked'] = 'refuse',
): Promise<T> =>
  inTransaction(runtime, [call], { whenLocked }, async (tx, [opened]) => {
    if (!opened || opened.problem) throw opened?.problem
    const result = await work(tx, opened)
    if (call.isHead) throw new RolledBack(result)
    return result
  }).catch((error: unknown) => {
    if (error instanceof RolledBack) return error.result as T
    throw error
  })

/**
 * The stored answer of a call; undefined where there is none, or where a call of another system was left
 * unrecorded.
 */
export const replayedOutcome = ({ call, key, stored }: CallInTransaction): ApiResponse | undefined =>
  key && stored ? replayStoredAnswer(key, stored, call) : undefined

async function open<C extends ApiCall>(calls: readonly C[], whenLocked: keyof typeof OPEN, sql: Sql) {
  const keys = calls.map(scopedIdempotencyKey)
  const scoped = keys.filter(key => key !== null)
  const names = [...new Set(scoped.map(idempotencyLockName))].sort()
  const tenant = calls[0]?.actor.tenant
  const opening = sql<{ id: string; offset_ms: number; locked: boolean[] }>(OPEN[whenLocked], [
    tenant?.ownerId ?? null,
    tenant?.mode ?? null,
    names,
  ])
  // Sent right behind the locks, so it reads what their last holder has left.
  const [[begun], answers] = await Promise.all([opening, findStoredAnswers(sql, scoped)])
  if (!begun) throw new Error('the transaction could not be opened')
  const free = new Set(names.filter((_, index) => begun.locked[index]))
  const opened = calls.map((call, index): CallInTransaction<C> => {
    const key = keys[index] ?? null
    // If two calls of a batch have one key, the first gets it.
    const isLocked = key !== null && !free.delete(idempotencyLockName(key))
    const stored = key && !isLocked ? answers.get(key) : undefined
    const problem = isLocked ? inProgressProblem() : stored ? undefined : endedRunProblem(call)
    return { call, key, stored, problem }
  })
  return { id: begun.id, now: clock.tenant(begun.offset_ms), opened }
}
