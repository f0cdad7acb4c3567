import { validateHeaderValue } from 'node:http'
import { z } from 'zod'
import { encodeJson, jsonName } from '../../values/json-names.ts'
import type { ApiResponse } from '../contract/call.ts'
import { CsvFile } from '../contract/csv-file.ts'
import { mediaTypeOf, type ResponseFile } from '../contract/file.ts'
import { type AnyOperation, isCsvForm, PROBLEM_TYPES, refusalFormOf } from '../contract/operation.ts'
import { MAX_PAGE_BYTES, type RecordPage } from '../contract/page.ts'
import { Accepted, AnswerWithHeaders, Refusal } from '../contract/problem.ts'

/** Marks a member of a request that is sealed and never shown, so that nothing else keeps it either. */
export const secretMeta = { secret: true } as const

/** Not shown again, not even in a replay. */
export const shownOnceSchema = (example: string) =>
  z
    .string()
    .nullable()
    .meta({ once: true, examples: [example], description: 'Shown once; null in a replay.' })

/** Marks a member of an answer that is kept sealed elsewhere, and so not under an `Idempotency-Key`. */
export const sealedElsewhereMeta = { sealedElsewhere: true } as const

/** How a part of an answer is stored under a key: as null, not at all, or with parts of its own that are. */
export type Hidden = 'null' | 'left out' | { readonly [member: string]: Hidden }

/** What is shown once, or sealed elsewhere, at any depth of an answer; undefined if nothing is. */
export function hiddenIn(schema: z.core.$ZodType): Hidden | undefined {
  const { once, sealedElsewhere } = z.globalRegistry.get(schema) ?? {}
  if (once) return 'null'
  if (sealedElsewhere) return 'left out'
  const { def } = (schema as z.core.$ZodTypes)._zod
  if (def.type === 'array') return hiddenIn(def.element)
  if ('innerType' in def) return hiddenIn(def.innerType)
  if (def.type !== 'object' && def.type !== 'union') return undefined
  const hidden: Record<string, Hidden> = {}
  if (def.type === 'union') Object.assign(hidden, ...def.options.map(hiddenIn))
  else
    for (const [name, member] of Object.entries(def.shape)) {
      const inner = hiddenIn(member)
      if (inner) hidden[jsonName(name)] = inner
    }
  return Object.keys(hidden).length === 0 ? undefined : hidden
}

function withoutHidden(value: unknown, hidden: Hidden): unknown {
  if (hidden === 'null') return null
  if (hidden === 'left out') return undefined
  if (Array.isArray(value)) return value.map(item => withoutHidden(item, hidden))
  if (typeof value !== 'object' || value === null) return value
  const stored: Record<string, unknown> = { ...value }
  for (const [name, inner] of Object.entries(hidden))
    if (name in stored) stored[name] = withoutHidden(stored[name], inner)
  return stored
}

interface AnswerFormat {
  readonly mediaType: string | undefined
  readonly hidden: Hidden | undefined
}

const formats = new WeakMap<z.ZodType, AnswerFormat>()

/** Read off the schema at its first answer, and cached. */
function formatOf(schema: z.ZodType): AnswerFormat {
  const known = formats.get(schema)
  if (known) return known
  const format = { mediaType: mediaTypeOf(schema), hidden: hiddenIn(schema) }
  formats.set(schema, format)
  return format
}

/** Drops members that the contract does not name. */
export function encodeOutcome(
  operation: AnyOperation,
  value: unknown,
  cursorAfter?: CursorAfter,
): ApiResponse {
  const outcome = encodedOutcome(operation, value, cursorAfter)
  if (outcome.errorCode !== undefined) return outcome
  const maxAge = operation.http?.cachedFor
  const cached = maxAge === undefined ? outcome : { ...outcome, maxAge }
  return operation.csv === undefined ? cached : { ...cached, headers: { ...cached.headers, Vary: 'Accept' } }
}

function encodedOutcome(operation: AnyOperation, value: unknown, cursorAfter?: CursorAfter): ApiResponse {
  if (value instanceof AnswerWithHeaders) {
    const outcome = encodedOutcome(operation, value.answer, cursorAfter)
    return {
      ...outcome,
      headers: { ...outcome.headers, ...declared(operation, outcome.status, value.headers) },
    }
  }
  if (value instanceof Refusal) return refused(operation, value)
  if (value instanceof Accepted) return accepted(operation, value)
  const [status, schema] = operation.returns
  if (value === undefined) return { status, body: null }
  if (operation.csv !== undefined && value instanceof CsvFile !== isCsvForm(operation))
    throw new Error(`${operation.path} does not answer in the form of \`context.asCsv\``)
  const { mediaType, hidden } = formatOf(schema)
  if (mediaType) return fileOutcome(status, value as ResponseFile)
  const wire = encodeJson(schema, value) as Record<string, unknown>
  const outcome = {
    status,
    body: cursorAfter && isPage(wire) ? pageBody(wire, cursorAfter) : JSON.stringify(wire),
  }
  return hidden === undefined ? outcome : { ...outcome, stored: JSON.stringify(withoutHidden(wire, hidden)) }
}

function accepted({ accepted: schema, path }: AnyOperation, { record }: Accepted): ApiResponse {
  if (!schema)
    throw new Error(`${path} answers later: its contract must say with what record in \`accepted\``)
  const { hidden } = formatOf(schema)
  const wire = encodeJson(schema, record)
  const outcome = { status: 202, body: JSON.stringify(wire) }
  return hidden === undefined ? outcome : { ...outcome, stored: JSON.stringify(withoutHidden(wire, hidden)) }
}

/** As `{error}`, and as a problem of RFC 9457 if the contract gives its type. */
function refused(operation: AnyOperation, { status, code, message, link }: Refusal): ApiResponse {
  const { problem, links } = refusalFormOf(operation, code)
  if (link !== undefined && links === undefined)
    throw new Error(`${operation.path} links from ${code}: its contract must say so in \`links\``)
  if (!problem) {
    const headers = link === undefined ? {} : { headers: { Link: link } }
    return { status, body: errorBody(message), errorCode: code, ...headers }
  }
  const body = JSON.stringify(problemBody(problem, status, message))
  return { status, type: PROBLEM_JSON, body, errorCode: code }
}

/** Headers that a contract does not name, or that cannot be sent, undo the request: the caller would not get the answer. */
function declared(
  { http, path }: AnyOperation,
  status: number,
  given: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [name, value] of Object.entries(given)) {
    if (http?.headers?.[status]?.[name] === undefined)
      throw new Error(`${path} sends ${name} with a ${status}: its contract must name it in \`http.headers\``)
    validateHeaderValue(name, value)
  }
  return given
}

const fileOutcome = (
  status: number,
  { type, content, name, cache, refusal, status: own }: ResponseFile,
): ApiResponse => ({
  status: refusal?.status ?? own ?? status,
  type,
  body: content,
  ...(name && { name }),
  ...(cache && { cache }),
  ...(refusal && { errorCode: refusal.code }),
})

type CursorAfter = (index: number) => string

const isPage = (wire: object): wire is RecordPage<unknown> => 'data' in wire && 'nextCursor' in wire

/** The records that fit into `MAX_PAGE_BYTES`, at least one. */
function pageBody({ data, ...rest }: RecordPage<unknown>, cursorAfter: CursorAfter): string {
  const records: string[] = []
  let bytes = 0
  for (const record of data) {
    const text = JSON.stringify(record)
    bytes += Buffer.byteLength(text)
    if (bytes > MAX_PAGE_BYTES && records.length > 0) break
    records.push(text)
  }
  const isCut = records.length < data.length
  const end = isCut ? { ...rest, hasMore: true, nextCursor: cursorAfter(records.length - 1) } : rest
  return `{"data":[${records.join(',')}],${JSON.stringify(end).slice(1)}`
}

export const PROBLEM_JSON = 'application/problem+json'

export const problemBody = (
  [type, title]: readonly [type: string, title: string],
  status: number,
  message: string,
): object => ({ type: PROBLEM_TYPES + type, title, status, detail: message, error: message })

export const errorBody = (message: string): string => JSON.stringify({ error: message })
