import { setTimeout as pause } from 'node:timers/promises'
import { clock } from '../../values/clock.ts'
import type { ApiCall, ApiResponse } from '../contract/call.ts'
import {
  BatchedAnswer,
  type BeginInBatch,
  CallExternal,
  type HotCall,
  type HotExternalHandler,
} from '../contract/handlers.ts'
import { Problem } from '../contract/problem.ts'
import { inProgressProblem } from '../journal/idempotency.ts'
import { DECIDED_APART, stepInBatch } from './batch.ts'
import { recordAnswer, recoverOr, runExternalSteps } from './external-call.ts'
import { type HandlerResult, hasEmitted, repeatOf, requireOutcome, toHandlerResult } from './finish-call.ts'
import type { RunBatched } from './group-commit.ts'
import { runReadOnly } from './plain.ts'
import type { OperationRuntime } from './runtime.ts'

type Events = Record<string, never>
type Handler = HotExternalHandler<ApiCall['input'], unknown, string, Events>
type InBatch = BeginInBatch<ApiCall['input'], unknown, string, Events, unknown, unknown>

const hotHandlerOf = ({ operation }: ApiCall): Handler => operation.handler as Handler

/** Proxies cut off what is not answered within a minute. */
const WAIT_MS = 45_000
/** What is taken over takes its own time: one that has waited for longer leaves that to the next repetition. */
const TAKES_OVER_MS = 5_000
const LOOK_EVERY_MS = 250

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
        return orApart(call, runBatched(stepInBatch(call, answer, 'records')))
      },
      recover: call => recoverCall(runtime, call),
    })

  const orApart = (
    call: ApiCall,
    inBatch: Promise<HandlerResult>,
    mayTakeOver = true,
  ): Promise<HandlerResult> =>
    inBatch.catch((error: unknown) => {
      if (error === DECIDED_APART) return recoverCall(runtime, call, mayTakeOver)
      throw error
    })

  /** A repetition that is answered by the record waits for the request that is under way. */
  const beginInBatch = async (call: ApiCall, { step }: InBatch): Promise<HandlerResult> => {
    const since = clock.ticks()
    const waited = () => clock.ticks() - since
    for (;;) {
      try {
        const begun = runBatched(stepInBatch(call, { step, input: call.input }, 'answers'))
        return await orApart(call, begun, waited() < TAKES_OVER_MS)
      } catch (error) {
        const isWaiting = repeatOf(call) && error instanceof Problem && error.code === 'in_progress'
        if (!isWaiting || waited() > WAIT_MS || call.whenGone?.().aborted) throw error
      }
      await pause(LOOK_EVERY_MS, undefined, { ref: false })
    }
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
const recoverCall = (
  runtime: OperationRuntime,
  call: ApiCall,
  mayTakeOver?: boolean,
): Promise<HandlerResult> =>
  recoverOr(
    runtime,
    call,
    () => {
      throw inProgressProblem()
    },
    mayTakeOver,
  )
