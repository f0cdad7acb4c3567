import type { ApiCall, ApiResponse } from '../contract/call.ts'
import {
  BatchedAnswer,
  type BeginInBatch,
  CallExternal,
  type HotCall,
  type HotExternalHandler,
} from '../contract/handlers.ts'
import { inProgressProblem } from '../journal/idempotency.ts'
import { ABANDONED_CALL_ERROR, stepInBatch } from './batch.ts'
import { recordAnswer, recoverOr, runExternalSteps } from './external-call.ts'
import { type HandlerResult, hasEmitted, requireOutcome, toHandlerResult } from './finish-call.ts'
import type { RunBatched } from './group-commit.ts'
import { runReadOnly } from './plain.ts'
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
  const takeSteps = (
    given: ApiCall,
    begin: (call: ApiCall) => Promise<HandlerResult>,
  ): Promise<ApiResponse> =>
    runExternalSteps<HotCall<unknown, unknown>>(runtime, given, {
      begin,
      make: (next, context) => next.make(context),
      async record(call, { reservation }, answer) {
        if (!(answer instanceof BatchedAnswer))
          return recordAnswer(runtime, call, context =>
            hotHandlerOf(call).record(answer, reservation, context),
          )
        if (answer.known && !call.idempotencyKey) return toHandlerResult(call, answer.known)
        return runBatched(stepInBatch(call, answer, 'records'))
      },
      recover: call => recoverCall(runtime, call),
    })

  const beginInBatch = (call: ApiCall, { step }: InBatch): Promise<HandlerResult> =>
    runBatched(stepInBatch(call, { step, input: call.input }, 'answers')).catch((error: unknown) => {
      if (error === ABANDONED_CALL_ERROR) return recoverCall(runtime, call)
      throw error
    })

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
