import type { EntityManager } from '@mikro-orm/postgresql'
import { clock } from '../../values/clock.ts'
import { assertRunGoesOn, type Call, type Outcome } from '../contract/call.ts'
import { inPieces, type Pieces } from '../contract/file.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Sql } from '../contract/sql.ts'
import { commit, entitiesOn, onConnection } from '../database/connection.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import { asProblem, retrying } from '../database/retry.ts'
import { offsetOf } from '../database/tenant-clock.ts'
import {
  type Claim,
  claimOf,
  inProgress,
  type Kept,
  keep,
  lockName,
  lookUp,
  replay,
} from '../journal/idempotency.ts'
import { emptyJournal, type Journal, writeJournal } from '../journal/journal.ts'
import { auditOf } from '../journal/journal-rows.ts'
import { outcomeOf } from './outcome.ts'
import { RequestContext } from './request-context.ts'
import { announce, type Runtime } from './runtime.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

/** What a write would go by at this moment: only the clock of test mode is ever moved. */
async function nowOf({ database }: Runtime, { actor: { tenant } }: Call): Promise<Date> {
  return clock.tenant(tenant?.mode === 'test' ? await offsetOf(sqlOn(database.pool), tenant) : 0)
}

/** A read: no transaction, no trace. */
export async function read(runtime: Runtime, call: Call): Promise<Outcome> {
  assertRunGoesOn(call)
  const context = new RequestContext(runtime, call, await nowOf(runtime, call))
  try {
    const value = await (call.operation.handler as Handler)(call.input, context)
    const outcome = outcomeOf(call.operation.operation, value, context.cursorAfter)
    const { body } = outcome
    return body !== null && inPieces(body) ? { ...outcome, body: explaining(body) } : outcome
  } catch (error) {
    throw asProblem(error)
  }
}

/** What comes in pieces can fail at any of them, in the same words. */
async function* explaining(pieces: Pieces): Pieces {
  try {
    yield* pieces
  } catch (error) {
    throw asProblem(error)
  }
}

/** One transaction: idempotency, handler, what other areas do about it, events, audit row, commit. */
export const runPlain = (runtime: Runtime, call: Call): Promise<Outcome> =>
  transaction(runtime, call, async opened => {
    const replayed = opened.kept && opened.claim && replay(opened.claim, opened.kept)
    return (
      replayed ||
      perform(runtime, call, opened, context => (call.operation.handler as Handler)(call.input, context))
    )
  })

export interface Opened {
  readonly em: EntityManager
  readonly sql: Sql
  readonly now: Date
  readonly claim: Claim | null
  readonly kept: Kept | undefined
  /** What is put here is written before the commit. */
  readonly journal: Journal
}

export async function perform(
  runtime: Runtime,
  call: Call,
  opened: Opened,
  handle: (context: RequestContext) => unknown,
): Promise<Outcome> {
  const context = new RequestContext(runtime, call, opened.now, opened)
  return settle(call, context, opened, await handle(context))
}

/** Notes what a handler leaves behind. The answer is encoded before the commit, so that a wrong one undoes all. */
export async function settle(
  call: Call,
  context: RequestContext,
  { claim, journal }: Opened,
  value: unknown,
): Promise<Outcome> {
  await context.react()
  await context.em.flush()
  const outcome = outcomeOf(call.operation.operation, value)
  note(call, context, journal, outcome)
  if (claim) journal.idempotency.push(keep(claim, outcome))
  return outcome
}

export function note(
  call: Call,
  { events, outbox }: RequestContext,
  journal: Journal,
  outcome: Outcome,
): void {
  journal.events.push(...events)
  journal.outbox.push(...outbox)
  journal.audit.push(...events.map(event => auditOf(call, event, outcome)))
}

const opening = (lock: string): string => `
select pg_current_xact_id()::text as id,
  coalesce((select offset_ms from tenant_clocks where owner_id = $1 and mode = $2), 0)::float8 as offset_ms,
  $3::text is null or ${lock} as locked`

const OPEN = {
  /** A request whose key is in use is told so. */
  refuse: opening('pg_try_advisory_xact_lock(hashtextextended($3, 0))'),
  /** What must be recorded waits for its turn. */
  wait: opening('exists (select from pg_advisory_xact_lock(hashtextextended($3, 0)))'),
}

/** Nobody waits for ever for a record that somebody holds. */
const BEGIN = `begin; set local lock_timeout = '3s'`

/** Opens, works, commits; tries again where another try can help. */
export const transaction = <T>(
  runtime: Runtime,
  call: Call,
  work: (opened: Opened) => Promise<T>,
  whenLocked: keyof typeof OPEN = 'refuse',
): Promise<T> =>
  retrying(() =>
    onConnection(runtime.database, BEGIN, async client => {
      const sql = sqlOn(client)
      const claim = claimOf(call)
      const { tenant } = call.actor
      const [opened] = await sql<{ id: string; offset_ms: number; locked: boolean }>(OPEN[whenLocked], [
        tenant?.ownerId ?? null,
        tenant?.mode ?? null,
        claim && lockName(claim),
      ])
      if (!opened?.locked) throw inProgress()
      const kept = claim ? (await lookUp(sql, [claim])).get(claim) : undefined
      if (!kept) assertRunGoesOn(call)
      const em = entitiesOn(runtime.database, client)
      const journal = emptyJournal()
      const result = await work({ em, sql, now: clock.tenant(opened.offset_ms), claim, kept, journal })
      const written = await writeJournal(sql, journal)
      await commit(runtime.database, client, { id: opened.id, auditId: journal.audit[0]?.id })
      announce(runtime, journal, written)
      return result
    }),
  )
