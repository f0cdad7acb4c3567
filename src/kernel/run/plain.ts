import { clock } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import { assertRunIsOpen, type Call, type Outcome } from '../contract/call.ts'
import { type ByteStream, isStreamed } from '../contract/file.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Sql } from '../contract/sql.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import { asProblem } from '../database/retry.ts'
import { offsetOf } from '../database/tenant-clock.ts'
import type { ScopedKey } from '../journal/idempotency.ts'
import { answerOf, handleCall } from './finish-call.ts'
import { outcomeOf } from './outcome.ts'
import { RequestContext } from './request-context.ts'
import type { Runtime } from './runtime.ts'
import { inOwnTransaction, replayed, type Transaction } from './transaction.ts'

type Handler = PlainHandler<Call['input'], unknown, string, Record<string, never>>

const plainHandlerOf = ({ operation }: Call): Handler => operation.handler as Handler

/** The tenant's time where nothing is written. Only the clock of test mode can be moved: live mode needs no query. */
export const tenantTime = async (sql: Sql, tenant: Tenant | null): Promise<Date> =>
  clock.tenant(tenant?.mode === 'test' ? await offsetOf(sql, tenant) : 0)

export async function runRead(runtime: Runtime, call: Call): Promise<Outcome> {
  const handle = plainHandlerOf(call)
  const { context, value } = await runReadOnly(runtime, call, async context => handle(call.input, context))
  const outcome = outcomeOf(call.operation.operation, value, context.cursorAfter)
  const { body } = outcome
  return body !== null && isStreamed(body) ? { ...outcome, body: withProblems(body) } : outcome
}

export async function runReadOnly<T>(
  runtime: Runtime,
  call: Call,
  look: (context: RequestContext) => Promise<T>,
): Promise<{ context: RequestContext; value: T }> {
  assertRunIsOpen(call)
  const { readsClock } = call.operation.operation
  const context = new RequestContext(
    runtime,
    call,
    readsClock
      ? (call.now ?? (await tenantTime(sqlOn(runtime.database.pool), call.actor.tenant)))
      : undefined,
  )
  try {
    return { context, value: await look(context) }
  } catch (error) {
    throw asProblem(error)
  }
}

/** A streamed body may fail at any piece; its error is translated as that of a whole body is. */
async function* withProblems(pieces: ByteStream): ByteStream {
  try {
    yield* pieces
  } catch (error) {
    throw asProblem(error)
  }
}

/** Runs a write in one transaction: idempotency, handler, reactions of other areas, journal, commit. */
export const runPlain = (runtime: Runtime, call: Call): Promise<Outcome> =>
  inOwnTransaction(
    runtime,
    call,
    async (tx, opened) => replayed(opened) ?? runHandler(runtime, call, tx, opened.key),
  )

export async function runHandler(
  runtime: Runtime,
  call: Call,
  tx: Transaction,
  key: ScopedKey | null = null,
): Promise<Outcome> {
  const handle = plainHandlerOf(call)
  return answerOf(await handleCall(runtime, { call, key }, tx, context => handle(call.input, context)))
}

/** Ends a transaction that was run for its answer alone: throwing it rolls back. */
class RolledBack extends Error {
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super('rolled back')
    this.outcome = outcome
  }
}

export async function headOfPlain(runtime: Runtime, call: Call): Promise<Outcome> {
  try {
    return await inOwnTransaction(runtime, call, async tx => {
      throw new RolledBack(await runHandler(runtime, call, tx))
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.outcome
    throw error
  }
}
