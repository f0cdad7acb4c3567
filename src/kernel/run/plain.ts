import { clock } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import { assertRunIsOpen, type Call, type Outcome } from '../contract/call.ts'
import { type ByteStream, isStreamed } from '../contract/file.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Sql } from '../contract/sql.ts'
import { commit, onConnection } from '../database/connection.ts'
import { sqlOfTransaction, sqlOn } from '../database/prepared-sql.ts'
import { asProblem, retrying } from '../database/retry.ts'
import { offsetOf } from '../database/tenant-clock.ts'
import {
  answerRow,
  findStoredAnswers,
  inProgress,
  lockName,
  replay,
  type ScopedKey,
  type StoredAnswer,
  scopedKeyOf,
} from '../journal/idempotency.ts'
import { ANY_NUMBER, emptyJournal, type Journal, writeJournal } from '../journal/journal.ts'
import { journalRowOf } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'
import { RequestContext, unwatched } from './request-context.ts'
import { announce, type JoinedTransaction, type Runtime } from './runtime.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

/** The tenant's time where nothing is written. Only the clock of test mode can be moved: live mode needs no query. */
export const nowOf = async (sql: Sql, tenant: Tenant | null): Promise<Date> =>
  clock.tenant(tenant?.mode === 'test' ? await offsetOf(sql, tenant) : 0)

/** Runs a read: no transaction, no journal. */
export async function read(runtime: Runtime, call: Call): Promise<Outcome> {
  const handler = call.operation.handler as Handler
  const { context, value } = await readBy(runtime, call, async context => handler(call.input, context))
  const outcome = outcomeOf(call.operation.operation, value, context.cursorAfter)
  const { body } = outcome
  return body !== null && isStreamed(body) ? { ...outcome, body: withProblems(body) } : outcome
}

/** What a function finds by reading alone. */
export async function readBy<T>(
  runtime: Runtime,
  call: Call,
  look: (context: RequestContext) => Promise<T>,
): Promise<{ context: RequestContext; value: T }> {
  assertRunIsOpen(call)
  const { readsClock } = call.operation.operation
  const context = new RequestContext(
    runtime,
    call,
    readsClock ? (call.now ?? (await nowOf(sqlOn(runtime.database.pool), call.actor.tenant))) : undefined,
  )
  try {
    return { context, value: await look(context) }
  } catch (error) {
    throw asProblem(error)
  }
}

/** A streamed body may fail at any piece; the error is translated as that of a whole body would be. */
async function* withProblems(pieces: ByteStream): ByteStream {
  try {
    yield* pieces
  } catch (error) {
    throw asProblem(error)
  }
}

/** Runs a write in one transaction: idempotency, handler, reactions of other areas, journal, commit. */
export const runPlain = (runtime: Runtime, call: Call): Promise<Outcome> =>
  inTransaction(runtime, call, async tx => {
    const replayed = tx.stored && tx.key && replay(tx.key, tx.stored)
    return (
      replayed ||
      perform(runtime, call, tx, context => (call.operation.handler as Handler)(call.input, context))
    )
  })

/** Ends a transaction that was run for its answer alone: what is thrown in one rolls it back. */
class RolledBack extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super('rolled back')
    this.outcome = outcome
  }
}

/** Answers HEAD of a GET that writes: runs it in a transaction that is rolled back. */
export async function headOfPlain(runtime: Runtime, call: Call): Promise<Outcome> {
  try {
    return await inTransaction(runtime, call, async tx => {
      const handle = (context: RequestContext) => (call.operation.handler as Handler)(call.input, context)
      throw new RolledBack(await perform(runtime, call, tx, handle))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome
    throw error
  }
}

/** A transaction that has been opened for a call, and whatever was stored under the call's idempotency key. */
export interface OpenTransaction extends JoinedTransaction {
  readonly now: Date
  readonly key: ScopedKey | null
  readonly stored: StoredAnswer | undefined
}

export async function perform(
  runtime: Runtime,
  call: Call,
  tx: OpenTransaction,
  handle: (context: RequestContext) => unknown,
): Promise<Outcome> {
  const context = new RequestContext(runtime, call, tx.now, tx)
  return settle(call, context, tx, await handle(context))
}

/**
 * Completes the journal of a call. The answer is encoded before the commit: one that breaks its contract rolls back.
 */
export async function settle(
  call: Call,
  context: RequestContext,
  { key, journal, underWay }: OpenTransaction,
  value: unknown,
): Promise<Outcome> {
  await context.react()
  underWay.push(...context.underWay, unwatched(context.records.flush()))
  const outcome = outcomeOf(call.operation.operation, value)
  addToJournal(call, context, journal, outcome)
  if (key) journal.idempotency.push(answerRow(key, outcome))
  return outcome
}

export function addToJournal(
  call: Call,
  { events, outbox }: RequestContext,
  journal: Journal,
  outcome: Outcome,
): void {
  journal.events.push(...events.map(event => journalRowOf(call, event, outcome)))
  journal.outbox.push(...outbox)
}

const openingStatement = (lock: string): string => `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  $3::text is null or ${lock} as locked`

/** The first statement of a transaction: its id, the tenant's clock and the lock of the idempotency key. */
const OPEN = {
  /** Fails at once while another request holds the key: the caller gets 409 `in_progress`. */
  refuse: openingStatement('pg_try_advisory_xact_lock(hashtextextended($3, 0))'),
  /** Waits for the lock: the outcome of an external call must be recorded. */
  wait: openingStatement('exists (select from pg_advisory_xact_lock(hashtextextended($3, 0)))'),
}

/** A record that another transaction has locked is waited for no longer than this. */
const BEGIN = `begin; set local lock_timeout = '3s'`

/** Runs `work` in a transaction and commits it with its journal; retries where another attempt can succeed. */
export const inTransaction = <T>(
  runtime: Runtime,
  call: Call,
  work: (tx: OpenTransaction) => Promise<T>,
  whenLocked: keyof typeof OPEN = 'refuse',
): Promise<T> =>
  retrying(() =>
    onConnection(runtime.database, BEGIN, async client => {
      const sql = sqlOfTransaction(client)
      const key = scopedKeyOf(call)
      const { tenant } = call.actor
      const opening = sql<{ id: string; offset_ms: number; locked: boolean }>(OPEN[whenLocked], [
        tenant?.ownerId ?? null,
        tenant?.mode ?? null,
        key && lockName(key),
      ])
      const [[begun], answers] = await Promise.all([opening, key ? findStoredAnswers(sql, [key]) : undefined])
      if (!begun?.locked) throw inProgress()
      const stored = key ? answers?.get(key) : undefined
      if (!stored) assertRunIsOpen(call)
      const journal = emptyJournal()
      const underWay: Promise<unknown>[] = []
      const now = clock.tenant(begun.offset_ms)
      const result = await work({ sql, now, key, stored, journal, underWay })
      const written = writeJournal(sql, journal)
      const trace = { id: begun.id, event: journal.events[0] }
      await commit(runtime.database, client, trace, [...underWay, written])
      announce(runtime, journal, await written.catch(() => ANY_NUMBER))
      return result
    }),
  )
