import { z } from 'zod'
import {
  type AnyOperation,
  beginsSession,
  isWritingOperation,
  type RefusalSpec,
  readsRawBody,
  refusalFormOf,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import { type ProblemCode, universalProblems } from '../../kernel/contract/problem.ts'
import { acceptsFiles, wrongMediaTypeRefusal } from '../../kernel/contract/upload.ts'
import { PROBLEM_JSON, problemBody } from '../../kernel/run/outcome.ts'
import { operationResponseHeaders, refusalCodeHeader } from './headers.ts'
import { isTenantCaller } from './security.ts'
import type { JsonSchema, MediaTypeObject, ResponseObject, SchemaReference } from './types.ts'

const meets: Readonly<Record<ProblemCode, (operation: AnyOperation) => boolean>> = {
  invalid_request: () => true,
  invalid_json: takesJson,
  body_incomplete: takesBody,
  invalid_cursor: ({ query }) => query instanceof z.ZodObject && 'cursor' in query.shape,
  invalid_run: ({ callers }) => callers.some(isTenantCaller),
  unknown_reference: takesJson,
  unauthenticated: needsCredential,
  invalid_dpop_proof: ({ callers }) => callers.includes('key'),
  account_suspended: ({ callers }) => callers.some(isTenantCaller),
  wrong_caller: needsCredential,
  cross_site: operation =>
    beginsSession(operation) || (operation.callers.includes('console') && operation.method !== 'GET'),
  missing_scope: ({ scope }) => scope !== undefined,
  not_found: ({ path }) => path.includes('{'),
  method_not_allowed: () => false,
  body_too_slow: takesBody,
  in_progress: takesIdempotencyKey,
  body_too_large: takesBody,
  unsupported_media_type: takesJson,
  idempotency_key_reused: takesIdempotencyKey,
  rate_limited: ({ limits }) => limits?.unmetered !== true,
  internal: () => true,
  busy: operation => isWritingOperation(operation) || operation.limits?.unmetered === 'existing',
  not_configured: ({ requires }) => requires !== undefined && requires !== 'passkeys',
  files_unavailable: acceptsFiles,
  storage_full: acceptsFiles,
  passkeys_unavailable: ({ requires, signature }) =>
    requires === 'passkeys' || (signature !== undefined && 'inRefusal' in signature),
  overloaded: takesBody,
  outcome_unknown: isWritingOperation,
  unavailable: () => true,
}

function takesJson({ body }: AnyOperation): boolean {
  return body !== undefined
}

function takesBody(operation: AnyOperation): boolean {
  return operation.body !== undefined || readsRawBody(operation)
}

function needsCredential({ callers }: AnyOperation): boolean {
  return !callers.includes('public')
}

interface Case {
  readonly code: string
  readonly status: number
  readonly message: string
}

const caseOf = ([code, [status, message]]: [string, RefusalSpec]): Case => ({ code, status, message })

const universalOf = (operation: AnyOperation): Case[] =>
  Object.entries({ ...universalProblems, unsupported_media_type: wrongMediaTypeRefusal(operation) })
    .filter(([code]) => meets[code as ProblemCode](operation))
    .map(caseOf)

export class RefusalCollector {
  readonly #shared = new Map<string, ResponseObject>()

  add(operation: AnyOperation): Record<string, ResponseObject | SchemaReference> {
    const cases = [
      ...Object.entries<RefusalSpec>(operation.fails ?? {}).map(caseOf),
      ...universalOf(operation),
    ]
    const byStatus = Object.entries(Object.groupBy(cases, ({ status }) => String(status)))
    return Object.fromEntries(
      byStatus.map(([status, group = []]) => [status, this.#responseOf(operation, group)]),
    )
  }

  all(): Record<string, ResponseObject> {
    return Object.fromEntries([...this.#shared].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  #responseOf(operation: AnyOperation, group: readonly Case[]): ResponseObject | SchemaReference {
    if (operation.limits?.unmetered || group.some(one => isOwn(operation, one)))
      return responseOf(operation, group)
    const name = group.map(({ code }) => code).join('.')
    if (!this.#shared.has(name)) this.#shared.set(name, responseOf(operation, group))
    return { $ref: `#/components/responses/${name}` }
  }
}

const isOwn = ({ fails = {} }: AnyOperation, { code, message }: Case): boolean =>
  code in fails || universalProblems[code as ProblemCode][1] !== message

const responseOf = (operation: AnyOperation, group: readonly Case[]): ResponseObject => ({
  description: group.map(({ code, message }) => `\`${code}\`: ${message}`).join('\n\n'),
  headers: {
    'X-Error-Code': refusalCodeHeader(group.map(({ code }) => code)),
    ...operationResponseHeaders(
      operation,
      group[0]?.status ?? 500,
      ...(group.some(({ code }) => refusalFormOf(operation, code).links) ? (['Link'] as const) : []),
    ),
  },
  content: contentOf(operation, group),
})

function contentOf(operation: AnyOperation, group: readonly Case[]): Record<string, MediaTypeObject> {
  const byMediaType = Object.groupBy(
    group.map(one => formOf(operation, one)),
    ({ mediaType }) => mediaType,
  )
  return Object.fromEntries(
    Object.entries(byMediaType).map(([mediaType, forms = []]) => [
      mediaType,
      {
        schema: schemaOf(forms.map(({ schema }) => schema)),
        examples: Object.fromEntries(forms.map(({ code, value }) => [code, { value }])),
      },
    ]),
  )
}

function schemaOf(forms: readonly JsonSchema[]): JsonSchema {
  const [first = ERROR, ...others] = [...new Set(forms)]
  return others.length === 0 ? first : { anyOf: [first, ...others] }
}

const ERROR: JsonSchema = { $ref: '#/components/schemas/Error' }
const PROBLEM: JsonSchema = { $ref: '#/components/schemas/Problem' }
const RPC_ERROR: JsonSchema = {
  type: 'object',
  required: ['jsonrpc', 'error', 'id'],
  properties: {
    jsonrpc: { type: 'string', enum: ['2.0'] },
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: { code: { type: 'integer' }, message: { type: 'string' } },
    },
    id: { type: ['string', 'integer', 'null'] },
  },
}

function formOf(operation: AnyOperation, { code, status, message }: Case) {
  const { problem, rpcCode } = refusalFormOf(operation, code)
  if (problem)
    return { code, mediaType: PROBLEM_JSON, schema: PROBLEM, value: problemBody(problem, status, message) }
  const mediaType = 'application/json'
  return rpcCode === undefined
    ? { code, mediaType, schema: ERROR, value: { error: message } }
    : {
        code,
        mediaType,
        schema: RPC_ERROR,
        value: { jsonrpc: '2.0', error: { code: rpcCode, message }, id: null },
      }
}
