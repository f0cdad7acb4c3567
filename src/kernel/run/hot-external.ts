import { type ApiCall, type ApiResponse, assertRunIsOpen } from '../contract/call.ts'
import {
  BatchedAnswer,
  type BeginInBatch,
  CallExternal,
  type HotCall,
  type HotExternalHandler,
} from '../contract/handlers.ts'
import { Problem } from '../contract/problem.ts'
import { type BatchResult, batcher } from '../database/batcher.ts'
import { onConnection } from '../database/connection.ts'
import { sqlOfTransaction } from '../database/prepared-sql.ts'
import { inProgressProblem } from '../journal/idempotency.ts'
import { ABANDONED_CALL_ERROR, type CallInBatch, loadAndDecide, stepInBatch } from './batch.ts'
import { recordAnswer, recoverOr, runExternalSteps } from './external-call.ts'
import { type HandlerResult, hasEmitted, requireOutcome, toHandlerResult } from './finish-call.ts'
import { batchNameOf, type RunBatched } from './group-commit.ts'
import { readTenantTime, runReadOnly, translated } from './plain.ts'
import type { OperationRuntime } from './runtime.ts'

type Events = Record<string, never>
type Handler = HotExternalHandler<ApiCall['input'], unknown, string, Events>
type InBatch = BeginInBatch<ApiCall['input'], unknown, string, Events, unknown, unknown>

const hotHandlerOf = ({ operation }: ApiCall): Handler => operation.handler as Handler

/** Runs external operations in steps that requests share. */
export function hotExternalRunner(
  runtime: OperationRuntime,
  runBatched: RunBatched,
): (call: ApiCall) => Promise<ApiResponse> {
  const readShared = sharedReads(runtime)

  const takeSteps = (
    given: ApiCall,
    begin: (call: ApiCall) => Promise<HandlerResult>,
  ): Promise<ApiResponse> =>
    runExternalSteps<HotCall<unknown, unknown>>(runtime, given, {
      begin,
      make: (next, context) => next.make(context),
      record: (call, { reservation }, answer) =>
        answer instanceof BatchedAnswer
          ? runBatched(stepInBatch(call, answer, 'records'))
          : recordAnswer(runtime, call, context => hotHandlerOf(call).record(answer, reservation, context)),
      recover: call => recoverCall(runtime, call),
    })

  async function beginInBatch(call: ApiCall, { by, step }: InBatch): Promise<HandlerResult> {
    const asked = stepInBatch(call, { step, input: call.input }, by === 'writing' ? 'answers' : 'reserves')
    const mayRead = by === 'shared reading' && !call.idempotencyKey
    const read = mayRead ? await readShared(asked) : undefined
    if (read) return read
    return runBatched(asked).catch((error: unknown) => {
      if (error === ABANDONED_CALL_ERROR) return recoverCall(runtime, call)
      throw error
    })
  }

  return async given => {
    const { begin } = hotHandlerOf(given)
    if (begin.by !== 'reading') return takeSteps(given, call => beginInBatch(call, begin))
    const asked = given.isHead ? withoutPayment(given) : given
    const { context, value } = await runReadOnly(runtime, asked, context => begin.read(asked.input, context))
    if (hasEmitted(context)) throw new Error(`${given.operation.key} writes where it says that it only reads`)
    const done = toHandlerResult(asked, value)
    if (asked.isHead || !(done instanceof CallExternal)) return requireOutcome(done)
    return takeSteps({ ...asked, actor: { ...asked.actor, tenant: context.tenant } }, async () => done)
  }
}

/** These headers pay. HEAD pays nothing: it is answered as a request without them. */
const PAYING = ['authorization', 'payment-authorization']

function withoutPayment(call: ApiCall): ApiCall {
  const { request } = call
  const headers = Object.entries(request?.headers ?? {}).filter(([name]) => !PAYING.includes(name))
  return request ? { ...call, request: { ...request, headers: Object.fromEntries(headers) } } : call
}

/** Decides a call that was left by its reservation, unless that was recovered meanwhile and its answer dropped since. */
const recoverCall = (runtime: OperationRuntime, call: ApiCall): Promise<HandlerResult> =>
  recoverOr(runtime, call, () => {
    throw inProgressProblem()
  })

const READS = { size: 12, inFlight: 2 }

function sharedReads(runtime: OperationRuntime): (call: CallInBatch) => Promise<HandlerResult | undefined> {
  const batched = batcher<CallInBatch, HandlerResult | undefined>(READS, calls => readBatch(runtime, calls))
  return async call => {
    assertRunIsOpen(call)
    return translated(batched(batchNameOf(call), call))
  }
}

async function readBatch(
  runtime: OperationRuntime,
  calls: readonly CallInBatch[],
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
