import { clock } from '../../values/clock.ts'
import type { Tenant } from '../contract/actor.ts'
import { type ApiCall, type ApiResponse, assertRunIsOpen } from '../contract/call.ts'
import { type ByteStream, isStreamedContent } from '../contract/file.ts'
import type { PlainHandler } from '../contract/handlers.ts'
import type { Sql } from '../contract/sql.ts'
import { sqlOn } from '../database/prepared-sql.ts'
import { databaseErrorAsProblem } from '../database/retry.ts'
import { readClockOffset } from '../database/tenant-clock.ts'
import type { ScopedIdempotencyKey } from '../journal/idempotency.ts'
import { requireOutcome, runCallInTransaction } from './finish-call.ts'
import { encodeOutcome } from './outcome.ts'
import { RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import { inOwnTransaction, replayedOutcome, type Transaction } from './transaction.ts'

type Handler = PlainHandler<ApiCall['input'], unknown, string, Record<string, never>>

const plainHandlerOf = ({ operation }: ApiCall): Handler => operation.handler as Handler

/** The tenant's time where nothing is written. Only the clock of test mode can be moved: live mode needs no query. */
export const readTenantTime = async (sql: Sql, tenant: Tenant | null): Promise<Date> =>
  clock.tenant(tenant?.mode === 'test' ? await readClockOffset(sql, tenant) : 0)

export async function runRead(runtime: OperationRuntime, call: ApiCall): Promise<ApiResponse> {
  const handle = plainHandlerOf(call)
  const { replica } = runtime
  const read = (on: OperationRuntime) => readIn(on, call, async context => handle(call.input, context))
  const isReport = replica && call.operation.operation.isReport
  const { context, value } = await translated(
    isReport ? replica.answer(database => read({ ...runtime, database })) : read(runtime),
  )
  const outcome = encodeOutcome(call.operation.operation, value, context.cursorAfter)
  const { body } = outcome
  return body !== null && isStreamedContent(body) ? { ...outcome, body: withProblems(body) } : outcome
}

export const runReadOnly = <T>(...read: Parameters<typeof readIn<T>>): ReturnType<typeof readIn<T>> =>
  translated(readIn(...read))

export const translated = <T>(read: Promise<T>): Promise<T> =>
  read.catch((error: unknown) => {
    throw databaseErrorAsProblem(error)
  })

async function readIn<T>(
  runtime: OperationRuntime,
  call: ApiCall,
  look: (context: RequestContext) => Promise<T>,
): Promise<{ context: RequestContext; value: T }> {
  assertRunIsOpen(call)
  const { readsClock } = call.operation.operation
  const context = new RequestContext(
    runtime,
    call,
    readsClock
      ? (call.now ?? (await readTenantTime(sqlOn(runtime.database.pool), call.actor.tenant)))
      : undefined,
  )
  return { context, value: await look(context) }
}

/** A streamed body may fail at any piece; its error is translated as that of a whole body is. */
async function* withProblems(pieces: ByteStream): ByteStream {
  try {
    yield* pieces
  } catch (error) {
    throw databaseErrorAsProblem(error)
  }
}

/** Runs a write in one transaction: idempotency, handler, reactions of other areas, journal, commit. */
export const runInOwnTransaction = (runtime: OperationRuntime, call: ApiCall): Promise<ApiResponse> =>
  inOwnTransaction(
    runtime,
    call,
    async (tx, opened) => replayedOutcome(opened) ?? runHandler(runtime, call, tx, opened.key),
  )

export async function runHandler(
  runtime: OperationRuntime,
  call: ApiCall,
  tx: Transaction,
  key: ScopedIdempotencyKey | null = null,
): Promise<ApiResponse> {
  const handle = plainHandlerOf(call)
  return requireOutcome(
    await runCallInTransaction(runtime, { call, key }, tx, context => handle(call.input, context)),
  )
}
