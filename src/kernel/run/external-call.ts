import { randomUUID } from 'node:crypto'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import {
  AnswerNow,
  CallExternal,
  type ExternalCallContext,
  type ExternalHandler,
} from '../contract/handlers.ts'
import { Problem, Refusal } from '../contract/problem.ts'
import {
  assertSameRequest,
  CANNOT_TELL_YET,
  inProgressProblem,
  takeOverAbandonedCall,
} from '../journal/idempotency.ts'
import {
  type HandlerResult,
  repeatOf,
  requireOutcome,
  runCallInTransaction,
  toHandlerResult,
} from './finish-call.ts'
import { isLeftBy, leaveCall } from './left-calls.ts'
import { claimOutside } from './outside.ts'
import { RequestContext } from './request-context.ts'
import type { OperationRuntime } from './runtime.ts'
import { inSpanOfExternalCall } from './spans.ts'
import { type CallInTransaction, inOwnTransaction, replayedOutcome, type Transaction } from './transaction.ts'

type Handler = ExternalHandler<ApiCall['input'], unknown, string, Record<string, never>>

const externalHandlerOf = ({ operation }: ApiCall): Handler => operation.handler as Handler

/** How an operation takes its steps. Each commits, and gives the answer or the next call. */
interface ExternalSteps<C extends CallExternal<unknown>> {
  begin(call: ApiCall): Promise<HandlerResult>
  make(next: C, context: ExternalCallContext): Promise<unknown>
  record(call: ApiCall, next: C, answer: unknown): Promise<HandlerResult>
  /** Decides a call that was left by what is stored under its key. */
  recover(call: ApiCall): Promise<HandlerResult>
}

/** Reserves, calls and records; calls again for as long as an answer leads to another call. */
export const runExternalSteps = <C extends CallExternal<unknown>>(
  runtime: OperationRuntime,
  given: ApiCall,
  { begin, make, record, recover }: ExternalSteps<C>,
): Promise<ApiResponse> =>
  claimOutside(runtime, async claim => {
    let call: ApiCall = { ...given, lease: claim.holder, reservedBy: randomUUID() }
    let hasReserved = false
    try {
      let done = await begin(call)
      if (!(done instanceof CallExternal)) return done
      hasReserved = true
      const isRepeatable = call.idempotencyKey !== null
      const context = { ...runtime.ports, requestId: call.requestId, isRepeatable }
      const whenLost = async () => {
        if (!call.idempotencyKey) throw takenOver()
        call = { ...call, lease: claim.holder }
        return recover(call)
      }
      while (done instanceof CallExternal) {
        const next = done as C
        done = await claim.call({
          call,
          make: () => inSpanOfExternalCall(runtime, call.operation.key, () => make(next, context)),
          record: answer => record(call, next, answer),
          whenLost,
        })
      }
      return { ...done, externalMs: claim.externalMs }
    } catch (error) {
      if (isLeftBy(error, hasReserved)) void leaveCall(runtime, call)
      throw error
    }
  })

const takenOver = (): Problem =>
  new Problem(
    'outcome_unknown',
    'This process was paused before it called the other system, and another process may have taken over. Check the record before you repeat the request.',
    { 'Retry-After': '5' },
  )

/** Each step in a transaction of its own. */
export const runExternal = (runtime: OperationRuntime, given: ApiCall): Promise<ApiResponse> => {
  const { reserve, call: callSystem, record } = externalHandlerOf(given)
  const begin = (call: ApiCall) =>
    recoverOr(runtime, call, (tx, opened) =>
      runCallInTransaction(runtime, opened, tx, async context =>
        reservedIn(await reserve(call.input, context)),
      ),
    )
  return runExternalSteps(runtime, given, {
    begin,
    make: ({ reservation }, context) => callSystem(reservation, context),
    record: (call, { reservation }, answer) =>
      recordAnswer(runtime, call, context => record(answer, reservation, context)),
    recover: begin,
  })
}

function reservedIn(reserved: unknown): unknown {
  if (reserved instanceof AnswerNow) return reserved.answer
  return reserved instanceof Refusal ? reserved : new CallExternal(reserved)
}

export const recordAnswer = (
  runtime: OperationRuntime,
  call: ApiCall,
  work: (context: RequestContext) => unknown,
): Promise<HandlerResult> =>
  inOwnTransaction(
    runtime,
    call,
    async (tx, opened) => {
      // If the answer comes after its lease has expired, another request may have recovered the call.
      const isRecovered = typeof opened.stored?.status === 'number'
      const kept = isRecovered ? await keptOutcome(runtime, opened, tx) : undefined
      return kept ?? runCallInTransaction(runtime, opened, tx, work)
    },
    'wait',
  )

/** By the record, where the operation says so, or as it is stored. */
async function keptOutcome(
  runtime: OperationRuntime,
  opened: CallInTransaction,
  tx: Transaction,
): Promise<ApiResponse | undefined> {
  const { call, key, stored } = opened
  const repeat = repeatOf(call)
  if (!repeat || !key || !stored) return replayedOutcome(opened)
  assertSameRequest(key, stored, call)
  const { reservation, status, body } = stored
  const answer = status === null ? null : { status, body }
  const value = await repeat({ reservation, answer }, new RequestContext(runtime, call, tx.now, tx))
  if (value === undefined) return replayedOutcome(opened)
  return { ...requireOutcome(toHandlerResult(call, value)), replayed: true }
}

/** The stored answer of a call, or the decision about one that was left before its outcome. If none is stored, it begins. */
export async function recoverOr(
  runtime: OperationRuntime,
  call: ApiCall,
  begin: (tx: Transaction, opened: CallInTransaction) => Promise<HandlerResult>,
  mayTakeOver = true,
): Promise<HandlerResult> {
  const attempt = () =>
    inOwnTransaction(runtime, call, async (tx, opened) => {
      const { stored } = opened
      if (!stored) return begin(tx, opened)
      const kept = await keptOutcome(runtime, opened, tx)
      if (kept) return kept
      if (!mayTakeOver) throw inProgressProblem()
      await takeOverAbandonedCall(tx.sql, stored, runtime.lease)
      const { recover } = externalHandlerOf(call)
      return runCallInTransaction(runtime, { ...opened, isRecovered: true }, tx, context =>
        recover(stored.reservation, context, call.input),
      )
    })
  return attempt().catch(async (error: unknown) => {
    if (error !== CANNOT_TELL_YET) throw error
    await runtime.lease.grow()
    return attempt()
  })
}
