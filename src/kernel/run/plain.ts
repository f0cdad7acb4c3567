import type { EntityManager } from '@mikro-orm/postgresql'
import { clock } from '../../values/clock.ts'
import { assertRunIsOpen, type Call, type Outcome } from '../contract/call.ts'
import { type ByteStream, isStreamed } from '../contract/file.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Sql } from '../contract/sql.ts'
import { commit, entitiesOn, onConnection } from '../database/connection.ts'
import { sqlOn } from '../database/prepared-sql.ts'
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
import { emptyJournal, type Journal, writeJournal } from '../journal/journal.ts'
import { auditOf } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'
import { RequestContext } from './request-context.ts'
import { announce, type Runtime } from './runtime.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

/** The tenant's time. Only the clock of test mode can be moved, so live mode needs no query. */
async function nowOf({ database }: Runtime, { actor: { tenant } }: Call): Promise<Date> {
  return clock.tenant(tenant?.mode === 'test' ? await offsetOf(sqlOn(database.pool), tenant) : 0)
}

/** Runs a read: no transaction, no journal. */
export async function read(runtime: Runtime, call: Call): Promise<Outcome> {
  assertRunIsOpen(call)
  const context = new RequestContext(runtime, call, await nowOf(runtime, call))
  try {
    const value = await (call.operation.handler as Handler)(call.input, context)
    const outcome = outcomeOf(call.operation.operation, value, context.cursorAfter)
    const { body } = outcome
    return body !== null && isStreamed(body) ? { ...outcome, body: withProblems(body) } : outcome
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

/** Runs a write in one transaction: idempotency, handler, reactions of other areas, events, audit rows, commit. */
export const runPlain = (runtime: Runtime, call: Call): Promise<Outcome> =>
  inTransaction(runtime, call, async tx => {
    const replayed = tx.stored && tx.key && replay(tx.key, tx.stored)
    return (
      replayed ||
      perform(runtime, call, tx, context => (call.operation.handler as Handler)(call.input, context))
    )
  })

/** A transaction that has been opened for a call, and whatever was stored under the call's idempotency key. */
export interface OpenTransaction {
  readonly em: EntityManager
  readonly sql: Sql
  readonly now: Date
  readonly key: ScopedKey | null
  readonly stored: StoredAnswer | undefined
  /** Written just before the commit. */
  readonly journal: Journal
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
  { key, journal }: OpenTransaction,
  value: unknown,
): Promise<Outcome> {
  await context.react()
  await context.em.flush()
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
  journal.events.push(...events)
  journal.outbox.push(...outbox)
  journal.audit.push(...events.map(event => auditOf(call, event, outcome)))
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
      const sql = sqlOn(client)
      const key = scopedKeyOf(call)
      const { tenant } = call.actor
      const [begun] = await sql<{ id: string; offset_ms: number; locked: boolean }>(OPEN[whenLocked], [
        tenant?.ownerId ?? null,
        tenant?.mode ?? null,
        key && lockName(key),
      ])
      if (!begun?.locked) throw inProgress()
      const stored = key ? (await findStoredAnswers(sql, [key])).get(key) : undefined
      if (!stored) assertRunIsOpen(call)
      const em = entitiesOn(runtime.database, client)
      const journal = emptyJournal()
      const result = await work({ em, sql, now: clock.tenant(begun.offset_ms), key, stored, journal })
      const written = await writeJournal(sql, journal)
      await commit(runtime.database, client, { id: begun.id, auditId: journal.audit[0]?.id })
      announce(runtime, journal, written)
      return result
    }),
  )
