import type { ApiCall } from '../kernel/contract/call.ts'
import { CSV_TYPE, CsvFile } from '../kernel/contract/csv-file.ts'
import {
  type AnyOperation,
  csvFormOf,
  isWritingOperation,
  type RegisteredOperation,
} from '../kernel/contract/operation.ts'
import { Problem, Refusal, RefusedError } from '../kernel/contract/problem.ts'
import type { ExecuteCall } from '../kernel/run/execute.ts'
import type { CallOperationFor } from '../kernel/run/runtime.ts'
import { requireAuthorized } from './http/authenticate.ts'
import { parseInput } from './http/input.ts'

/**
 * Calls operations within the process, with the same rights, parsing and answer as over HTTP, without
 * headers. Only reads: changes need an ordinary request.
 */
export function callOperationFor(
  operations: readonly RegisteredOperation[],
  execute: ExecuteCall,
): CallOperationFor {
  const forms = operations.flatMap(registered =>
    registered.operation.csv
      ? [registered, { ...registered, operation: csvFormOf(registered.operation) }]
      : [registered],
  )
  const byContract = new Map(forms.map(registered => [registered.operation, registered]))
  return async (caller, operation, question = {}) => {
    const registered = byContract.get(operation)
    if (!registered) throw new Error(`${operation.path} is not in the list of areas`)
    if (isWritingOperation(operation)) throw new Error(`${registered.key} changes something: it is not asked`)
    try {
      return await answerOf(await execute(callOf(caller, registered, question)))
    } catch (error) {
      if (error instanceof Problem && error.status < 500)
        throw new RefusedError(new Refusal(error.status, error.code, error.message))
      throw error
    }
  }
}

type Asked = Parameters<CallOperationFor>[2]

function callOf(
  { actor, requestId, address, now, hasTurn }: Parameters<CallOperationFor>[0],
  registered: RegisteredOperation,
  { params = {}, query = {}, body = {} }: NonNullable<Asked>,
): ApiCall {
  const { operation } = registered
  mayAsk(actor, operation)
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))
  const input = { params, ...parseInput(operation, search, body) }
  const asked = { operation: registered, actor, input, requestId, address, idempotencyKey: null }
  return { ...asked, ...(now && { now }), ...(hasTurn && { hasTurn }) }
}

function mayAsk(actor: ApiCall['actor'], { callers, scope }: AnyOperation): void {
  if (!callers.includes('public')) requireAuthorized(actor, callers, scope)
}

function answerOf({ status, body, type, name = '', errorCode }: Awaited<ReturnType<ExecuteCall>>): unknown {
  if (typeof body === 'string' && type?.startsWith(CSV_TYPE)) return new CsvFile(name, body)
  if (typeof body !== 'string') throw new Error('only an operation that answers with JSON can be asked')
  const answer = JSON.parse(body)
  if (errorCode === undefined) return answer
  throw new RefusedError(new Refusal(status, errorCode, answer.error))
}
