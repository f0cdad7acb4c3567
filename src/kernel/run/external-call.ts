import { clock } from '../../values/clock.ts'
import { type ApiCall, type ApiResponse, assertRunIsOpen } from '../contract/call.ts'
import { AnswerNow, type BoundBatchedStep, CallExternal, type ExternalHandler } from '../contract/handlers.ts'
import { AnswerWithHeaders, Problem, Refusal } from '../contract/problem.ts'
import { type BatchResult, batcher } from '../database/batcher.ts'
import { onConnection } from '../database/connection.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import type { ProcessLease } from '../database/process-lease.ts'
import { databaseErrorAsProblem } from '../database/retry.ts'
import { CANNOT_TELL_YET, inProgressProblem, takeOverAbandonedCall } from '../journal/idempotency.ts'
import { ABANDONED_CALL_ERROR, type HotOperationCall, loadAndDecide } from './batch.ts'
import { type EmittedRows, type HandlerResult, runCallInTransaction, toHandlerResult } from './finish-call.ts'
import { batchNameOf, type RunBatched } from './group-commit.ts'
import { encodeOutcome } from './outcome.ts'
import { readTenantTime, runReadOnly } from './plain.ts'
import type { RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import { inOwnTransaction, replayedOutcome } from './transaction.ts'

type Events = Record<string, never>
/** Ends the wait of a request whose answer cannot be recorded yet. */
type LeaveCall = (reason: Problem) => void

type Handler = ExternalHandler<ApiCall['input'], unknown, string, Events>

const externalHandlerOf = ({ operation }: ApiCall): Handler => operation.handler as Handler

/**
 * Reserves and commits, calls the external system with no transaction open, records its answer and commits;
 * again for each further call that an answer leads to.
 */
export function externalRunner(
  runtime: OperationRuntime,
  runBatched: RunBatched,
): (call: ApiCall) => Promise<ApiResponse> {
  const { lease, unrecordedAnswers } = runtime
  const readBatched = sharedReads(runtime)

  async function begin(call: ApiCall): Promise<HandlerResult> {
    const { reserve, readsToReserve } = externalHandlerOf(call)
    const shared =
      typeof reserve === 'function' ? undefined : withStep(call, { step: reserve, input: call.input })
    if (readsToReserve && !call.idempotencyKey) {
      const read = await (shared ? readBatched(shared) : reserveByReading(runtime, call))
      if (read) return read
    }
    if (!shared) return reserveOrRecover(runtime, call)
    return runBatched(shared).catch((error: unknown) => {
      if (error === ABANDONED_CALL_ERROR) return reserveOrRecover(runtime, call)
      throw error
    })
  }

  async function record(call: ApiCall, made: CallExternal<unknown>, answer: unknown): Promise<HandlerResult> {
    const step = stepFor(made, answer)
    if (step) return runBatched(withStep(call, step, true))
    const work = (context: RequestContext) =>
      externalHandlerOf(call).record(answer, made.reservation, context)
    return inOwnTransaction(
      runtime,
      call,
      async (tx, opened) => {
        // If the answer comes after its lease has expired, another request may have recovered the call.
        const isRecovered = typeof opened.stored?.status === 'number'
        return (isRecovered && replayedOutcome(opened)) || runCallInTransaction(runtime, opened, tx, work)
      },
      'wait',
    )
  }

  /** Calls and records until there is an outcome. A process that was paused makes no call that others have decided. */
  async function finish(given: ApiCall, first: HandlerResult, leave: LeaveCall): Promise<ApiResponse> {
    let call = given
    let done = first
    let externalMs = 0
    while (done instanceof CallExternal) {
      const next = done
      if (await lease.stillHolds(String(call.lease))) {
        const { answer, tookMs } = await makeCall(call, next, runtime)
        externalMs += tookMs
        done = await unrecordedAnswers.record(call, () => record(call, next, answer), leave)
      } else {
        if (!call.idempotencyKey) throw takenOver()
        call = { ...call, lease: await lease.hold() }
        done = await reserveOrRecover(runtime, call)
      }
    }
    return { ...done, externalMs }
  }

  return async given => {
    const { peek } = externalHandlerOf(given)
    const seen = peek && !given.idempotencyKey && (await answerByReading(runtime, given, peek))
    if (seen) return seen
    const call = { ...given, lease: await leaseOf(lease) }
    const done = await lease.during(begin(call))
    if (!(done instanceof CallExternal)) return done
    const left = Promise.withResolvers<never>()
    return Promise.race([lease.during(finish(call, done, left.reject)), left.promise])
  }
}

async function makeCall(
  call: ApiCall,
  { reservation, chained }: CallExternal<unknown>,
  { ports }: Pick<OperationRuntime, 'ports'>,
): Promise<{ readonly answer: unknown; readonly tookMs: number }> {
  const context = { ...ports, requestId: call.requestId }
  const made = () =>
    chained ? chained.call(chained.value, context) : externalHandlerOf(call).call(reservation, context)
  const start = { name: 'external call', attributes: { 'agentpay.operation': call.operation.key } }
  const began = clock.ticks()
  const { tracing } = ports.systems
  const answer = await (tracing ? tracing.span(start, made) : made())
  return { answer, tookMs: clock.ticks() - began }
}

/** Undefined if the handler's `record` takes the answer. */
function stepFor({ chained }: CallExternal<unknown>, answer: unknown): BoundBatchedStep | undefined {
  return chained?.accepts(answer) ? { ...chained, input: answer } : undefined
}

/** The lease under which a request calls other systems; 503 where the database is unavailable. */
const leaseOf = (lease: ProcessLease): Promise<string> =>
  lease.hold().catch((error: unknown) => {
    throw databaseErrorAsProblem(error)
  })

const takenOver = (): Problem =>
  new Problem(
    'outcome_unknown',
    'This process was paused before it called the other system, and another process may have taken over. Check the record before you repeat the request.',
    { 'Retry-After': '5' },
  )

function withStep(call: ApiCall, step: BoundBatchedStep, records = false): HotOperationCall {
  const { actor } = call
  return {
    ...call,
    actor: step.tenant ? { ...actor, tenant: step.tenant } : actor,
    step: { ...step, records },
  }
}

const reserveOrRecover = (runtime: OperationRuntime, call: ApiCall): Promise<HandlerResult> =>
  reserveOrTakeOver(runtime, call).catch(async (error: unknown) => {
    if (error !== CANNOT_TELL_YET) throw error
    await runtime.lease.grow()
    return reserveOrTakeOver(runtime, call)
  })

const reserveOrTakeOver = (runtime: OperationRuntime, call: ApiCall): Promise<HandlerResult> =>
  inOwnTransaction(runtime, call, async (tx, opened) => {
    const { stored } = opened
    const { recover, reserve } = externalHandlerOf(call)
    if (stored) {
      const kept = replayedOutcome(opened)
      if (kept) return kept
      await takeOverAbandonedCall(tx.sql, stored, runtime.lease)
      return runCallInTransaction(runtime, opened, tx, context => recover(stored.reservation, context))
    }
    // The reservation was recovered meanwhile, and its answer dropped since.
    if (typeof reserve !== 'function') throw inProgressProblem()
    const work = async (context: RequestContext) => reservedIn(await reserve(call.input, context))
    return runCallInTransaction(runtime, opened, tx, work)
  })

function reservedIn(reserved: unknown): unknown {
  if (reserved instanceof AnswerNow) return reserved.answer
  const isDone = [Refusal, AnswerWithHeaders, CallExternal].some(kind => reserved instanceof kind)
  return isDone ? reserved : new CallExternal(reserved)
}

async function reserveByReading(
  runtime: OperationRuntime,
  call: ApiCall,
): Promise<HandlerResult | undefined> {
  const { reserve } = externalHandlerOf(call)
  if (typeof reserve !== 'function') throw new Error('a batched step is read in batches')
  const { context, value } = await runReadOnly(runtime, call, context => reserve(call.input, context))
  return hasEmitted(context) ? undefined : toHandlerResult(call, reservedIn(value))
}

const READS = { size: 12, inFlight: 2 }

function sharedReads(
  runtime: OperationRuntime,
): (call: HotOperationCall) => Promise<HandlerResult | undefined> {
  const batched = batcher<HotOperationCall, HandlerResult | undefined>(READS, calls =>
    readBatch(runtime, calls),
  )
  return async call => {
    assertRunIsOpen(call)
    try {
      return await batched(batchNameOf(call), call)
    } catch (error) {
      throw databaseErrorAsProblem(error)
    }
  }
}

async function readBatch(
  runtime: OperationRuntime,
  calls: readonly HotOperationCall[],
): Promise<BatchResult<HandlerResult | undefined>[]> {
  const [first] = calls
  if (!first) return []
  const { decided } = await onConnection(runtime.database, null, async client => {
    const sql = sqlOfTransaction(client)
    const now = await readTenantTime(sql, first.actor.tenant)
    const asked = calls.map(call => ({ call }))
    return loadAndDecide(asked, { sql, now }, runtime.ports)
  })
  return decided.map(({ of: { call }, value, ...emitted }) => {
    const isRead = !(hasEmitted(emitted) || value instanceof Problem)
    return { status: 'fulfilled', value: isRead ? toHandlerResult(call, value) : undefined }
  })
}

const hasEmitted = ({ events, outbox }: EmittedRows): boolean => events.length + outbox.length > 0

async function answerByReading(
  runtime: OperationRuntime,
  call: ApiCall,
  look: NonNullable<Handler['peek']>,
): Promise<ApiResponse | undefined> {
  const { context, value } = await runReadOnly(runtime, call, context => look(call.input, context))
  if (hasEmitted(context)) throw new Error(`${call.operation.key} writes where it says that it only reads`)
  return value === undefined ? undefined : encodeOutcome(call.operation.operation, value)
}

/** These headers pay. HEAD pays nothing: it is answered as a request without them. */
const PAYING = ['authorization', 'payment-authorization']

export async function answerExternalHead(runtime: OperationRuntime, call: ApiCall): Promise<ApiResponse> {
  const { head, peek } = externalHandlerOf(call)
  const look = head ?? peek
  const { request } = call
  const headers = Object.fromEntries(
    Object.entries(request?.headers ?? {}).filter(([name]) => !PAYING.includes(name)),
  )
  const asked = request ? { ...call, request: { ...request, headers } } : call
  const outcome = look && (await answerByReading(runtime, asked, look))
  if (!outcome) throw new Error(`${call.operation.key} answers HEAD neither by \`head\` nor by \`peek\``)
  return outcome
}
