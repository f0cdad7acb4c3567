import { activityInfo, type Context } from '@temporalio/activity'
import { ApplicationFailure, ApplicationFailureCategory, CancelledFailure } from '@temporalio/common'
import type { ActivityInterceptors } from '@temporalio/worker'
import { parseInput } from '../../src/derive/http/input.ts'
import type { Actor, Tenant } from '../../src/kernel/contract/actor.ts'
import type { WaitingRun } from '../../src/kernel/contract/call.ts'
import type { RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import type { ProcessInput } from '../../src/kernel/contract/process.ts'
import type { LastRequest } from '../../src/kernel/journal/last-request.ts'
import type { ExecuteCall } from '../../src/kernel/run/execute.ts'
import { NoSuchRecord } from '../../src/kernel/run/steps.ts'
import { NoTurn } from '../../src/kernel/run/system-turns.ts'
import { sha256 } from '../../src/values/digest.ts'

export interface OperationResult<T> {
  readonly result?: T
  readonly refused?: string
}

export interface OperationCall {
  readonly of: ProcessInput
  readonly as: 'process' | { readonly operator: string }
  readonly requestId: string
  readonly isScheduled?: true
  readonly body?: object
  /** The idempotency key: the operation runs once, however often it is tried. */
  readonly once?: string | null
  readonly waitingRun?: WaitingRun | undefined
}

interface Parts {
  readonly execute: ExecuteCall
  readonly operations: readonly RegisteredOperation[]
  readonly offsetOf: (tenant: Tenant) => Promise<number>
  readonly causeOf: (tenant: Tenant, id: string) => Promise<LastRequest | undefined>
  readonly onFailure: (error: unknown, operation: string) => void
}

export type RunOperation = <T>(operation: string, asked: OperationCall) => Promise<OperationResult<T>>

export function operationRunner({ execute, operations, offsetOf, causeOf, onFailure }: Parts): RunOperation {
  const byKey = new Map(operations.map(operation => [operation.key, operation]))
  return async <T>(
    key: string,
    { of, as, requestId: given, isScheduled, body = {}, once = null, waitingRun }: OperationCall,
  ): Promise<OperationResult<T>> => {
    const operation = byKey.get(key)
    if (!operation) throw ApplicationFailure.nonRetryable(`there is no operation ${key}`)
    const params = { id: of.id }
    const work = async () => {
      const clockOffsetMs = await offsetOf(of)
      const cause = isScheduled ? undefined : await causeOf(of, of.id)
      const { requestId = given, traceparent } = cause ?? {}
      const input = { params, ...parseInput(operation.operation, new URLSearchParams(), body) }
      const actor = { ...actorOf(of, as), clockOffsetMs }
      const call = { operation, actor, input, requestId, address: null, idempotencyKey: once }
      const caused = { ...call, traceparent: traceparent ?? undefined }
      return execute({ ...caused, ...(waitingRun && { waitingRun }) })
    }
    const outcome = await orRefusal(work).catch((error: unknown) => {
      onFailure(error, key)
      throw withoutNames(error, key)
    })
    if ('refused' in outcome) return outcome
    const answer = JSON.parse(String(outcome.body))
    const { errorCode } = outcome
    return errorCode ? { refused: sentenceOf(operation, errorCode, answer.error) } : { result: answer }
  }
}

const STATE_SENTENCE = /^The \w+ is already \w+\.$/

/**
 * A handler's message may name the payee, and the history keeps it for good: the contract's sentence is used
 * instead.
 */
const sentenceOf = ({ operation }: RegisteredOperation, code: string, said: string): string =>
  STATE_SENTENCE.test(said) ? said : (operation.fails?.[code]?.[1] ?? code)

/** The message of an error may contain a whole statement with its values: the history gets only its kind. */
function withoutNames(error: unknown, operation: string): ApplicationFailure {
  const { name, code } = error as { name?: string; code?: unknown }
  const type = name ?? 'Error'
  const message = `${operation} failed: ${[type, ...(code === undefined ? [] : [code])].join(' ')}. See the log.`
  return ApplicationFailure.create({ message, type })
}

interface FailureLog {
  warn(about: object, message: string): void
}

/** The first, second, fourth, eighth attempt: another system may be away for hours. */
const isLogged = (attempt: number): boolean => Number.isInteger(Math.log2(attempt))

/** What another system did not do needs no stack. */
const lineOf = (error: unknown, activity: string, attempt: number) => ({
  ...(error instanceof Problem ? { why: error.message } : { err: error }),
  activity,
  attempt,
})

/** An activity that fails is logged here; the history gets the kind of its error only, and Temporal tries again. */
export const reportedActivities =
  (log: FailureLog) =>
  ({ info: { activityType, attempt } }: Context): ActivityInterceptors => ({
    inbound: {
      async execute(input, next) {
        try {
          return await next(input)
        } catch (error) {
          if (error instanceof ApplicationFailure || error instanceof CancelledFailure) throw error
          if (error instanceof NoTurn) throw notItsTurn(error)
          if (error instanceof NoSuchRecord) throw ApplicationFailure.nonRetryable(error.message)
          if (isLogged(attempt)) log.warn(lineOf(error, activityType, attempt), 'a process has to try again')
          throw withoutNames(error, activityType)
        }
      },
    },
  })

/**
 * An attempt whose answer was lost has done its work: by the same key the next attempt gets that answer. An update that is sent
 * again gets it from a later run of the record, too. Its id may be longer than a key can be.
 */
export function attemptName(updateId?: string): string {
  const { workflowExecution, activityId } = activityInfo()
  if (updateId === undefined) return `${workflowExecution?.runId}/${activityId}`
  const key = sha256(`${workflowExecution?.workflowId}/${updateId}`)
  return `update:${Buffer.from(key).toString('base64url')}`
}

const AGAIN_MS = 5_000
const LATEST_MS = 60_000

/** Many that were sent away at once do not come again at once. */
const spread = (delayMs: number): number => Math.round(delayMs * (0.5 + Math.random() / 2))

/** Temporal tries again, less and less often: the activity holds no slot meanwhile. */
const notItsTurn = ({ message }: NoTurn): ApplicationFailure =>
  ApplicationFailure.create({
    message,
    type: 'NotItsTurn',
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: spread(Math.min(AGAIN_MS * activityInfo().attempt, LATEST_MS)),
  })

/** Bad input is refused to the caller; an unavailable database is retried. */
async function orRefusal<T>(work: () => Promise<T>): Promise<T | { refused: string }> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Problem && REFUSALS.includes(error.status)) return { refused: error.message }
    throw error
  }
}

/** Bad input, and the id of an update that asked for something else before. */
const REFUSALS = [400, 422]

const actorOf = ({ ownerId, mode }: ProcessInput, as: OperationCall['as']): Omit<Actor, 'clockOffsetMs'> => ({
  type: as === 'process' ? 'process' : 'operator',
  id: as === 'process' ? null : as.operator,
  tenant: { ownerId, mode },
  agentId: null,
  scopes: new Set(),
})
