import type { z } from 'zod'
import type { ApiCall, ApiResponse } from '../../kernel/contract/call.ts'
import {
  isWritingOperation,
  type RegisteredOperation,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { ToolAnswer, ToolCaller } from '../../kernel/contract/tool.ts'
import { findUploads } from '../../kernel/contract/upload.ts'
import { problemOf } from '../../kernel/database/retry.ts'
import type { ExecuteCall } from '../../kernel/run/execute.ts'
import { isIdShaped } from '../../values/ids.ts'
import { publicActor, requireAuthorized } from '../http/authenticate.ts'
import { invalidRequest, refuseUnstorable } from '../http/body.ts'
import { parseInput } from '../http/input.ts'
import { agentPathParameter, pathParameterNames } from './input-schema.ts'

export type ToolInput = Readonly<Record<string, unknown>>

export interface CallParts {
  readonly execute: ExecuteCall
  readonly onFailure: (error: unknown, requestId: string) => void
}

interface ToolSending {
  readonly idempotencyKey: string | null
  readonly prefersAsync: boolean
}

/** Runs an operation for a tool. A problem is an answer as well; a defect is also logged. */
export async function runToolCall(
  { execute, onFailure }: CallParts,
  caller: ToolCaller,
  registered: RegisteredOperation,
  given: ToolInput,
  sending: ToolSending,
): Promise<ToolAnswer> {
  try {
    return await answerOf(await execute(callOf(caller, registered, given, sending)))
  } catch (error) {
    const { status, code, message } = problemOf(error, failure => onFailure(failure, caller.requestId))
    return { status, refusal: { code, message }, isRepeated: false }
  }
}

function callOf(
  { actor, requestId, address, runId }: ToolCaller,
  registered: RegisteredOperation,
  given: ToolInput,
  { idempotencyKey, prefersAsync }: ToolSending,
): ApiCall {
  const { operation } = registered
  const isPublic = operation.callers.includes('public')
  if (!isPublic) requireAuthorized(actor, operation.callers, operation.scope)
  refuseUnstorable(given)
  const { params, query, body } = splitToolInput(registered, given, actor.agentId)
  const input = { params, ...parseInput(operation, query, body) }
  const isKeyed = takesIdempotencyKey(operation) && isWritingOperation(operation)
  return {
    operation: registered,
    actor: isPublic ? publicActor : actor,
    input,
    sent: { query: Object.fromEntries(query), body },
    requestId,
    address,
    idempotencyKey: isKeyed ? idempotencyKey : null,
    prefersAsync: prefersAsync && operation.accepted !== undefined,
    // Headers belong to HTTP clients, so a handler that reads them finds none.
    ...(operation.http?.reads ? { request: { headers: {}, body: new Uint8Array(), host: '' } } : {}),
    ...(runId === null ? {} : { run: { id: runId, hasEnded: false } }),
  }
}

export function parseToolInput(registered: RegisteredOperation, given: ToolInput, agentId: string | null) {
  const { params, query, body } = splitToolInput(registered, given, agentId)
  return { params, ...parseInput(registered.operation, query, body) }
}

/** Divides the members into path, query and body. An agent's own token need not name its agent in a path. */
export function splitToolInput({ operation }: RegisteredOperation, given: ToolInput, agentId: string | null) {
  const rest = { ...given }
  const own = agentPathParameter(operation)
  const params = Object.fromEntries(
    pathParameterNames(operation).map(name => {
      const value = rest[name] ?? (name === own ? agentId : undefined)
      delete rest[name]
      return [name, parameter(name, value)]
    }),
  )
  if (operation.body)
    return { params, query: new URLSearchParams(), body: withoutFiles(operation.body, rest) }
  const asked = Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)
  const query = new URLSearchParams(asked.map(([name, value]): [string, string] => [name, textOf(value)]))
  return { params, query, body: {} }
}

/** Files are accepted only as bytes of a request, which are inspected before anything is stored. */
function withoutFiles(body: z.ZodType, given: ToolInput): ToolInput {
  const file = Object.keys(given).find(name => findUploads(body).has(name))
  if (file === undefined) return given
  throw invalidRequest(file, 'files are uploaded by HTTP, not by a tool')
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

function parameter(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw invalidRequest(name, 'it is missing, and must be a string')
  if (!isIdShaped(value)) throw new Problem('not_found', `${name}: this is not an ID.`)
  return value
}

async function answerOf({
  status,
  body,
  type,
  errorCode,
  replayed,
  headers,
}: ApiResponse): Promise<ToolAnswer> {
  const isRepeated = replayed === true
  const text = typeof body === 'string' ? body : body === null ? '' : await wholeText(body)
  const content = text === '' || type?.startsWith('text/csv') ? text : JSON.parse(text)
  if (errorCode !== undefined) {
    const { error = content } = content
    return { status, refusal: { code: errorCode, message: String(error), link: headers?.Link }, isRepeated }
  }
  return { status, ...(text === '' ? {} : { body: content }), isRepeated }
}

/** A longer table is more than a model reads. */
const LONGEST = 262_144

async function wholeText(content: Exclude<ApiResponse['body'], string | null>): Promise<string> {
  if (content instanceof Uint8Array) return Buffer.from(content).toString('utf8')
  const pieces: string[] = []
  let length = 0
  for await (const piece of content) {
    const text = typeof piece === 'string' ? piece : Buffer.from(piece).toString('utf8')
    pieces.push(text)
    length += text.length
    if (length > LONGEST)
      throw new Problem(
        'body_too_large',
        'The table is too long for a tool. Choose a shorter period, or use HTTP.',
      )
  }
  return pieces.join('')
}
