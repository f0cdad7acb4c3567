import { hash, randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse } from '../../kernel/contract/call.ts'
import { type ByteStream, type CachedResponseFile, isStreamedContent } from '../../kernel/contract/file.ts'
import { ClientGone, Problem } from '../../kernel/contract/problem.ts'
import { containsCredential } from '../../kernel/database/credential.ts'
import { errorBody } from '../../kernel/run/outcome.ts'
import { isCardNumberInId } from '../../values/card-number.ts'

const RESIDENCY = 'EU'
/**
 * The default of these answers, all of which say when to repeat the request. A missing setting, an external system and a
 * full list are slow to change.
 */
const RETRY_AFTER_SECONDS = '30'
const WAITING_STATUSES = [429, 503]
const JSON_TYPE = 'application/json; charset=utf-8'
/** Pages load only the service's own resources and cannot be framed. A page may have a stricter policy. */
const PAGE_HEADERS = {
  'Content-Security-Policy':
    "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'Referrer-Policy': 'no-referrer',
}

/** Uses a client's request id if it is safe in headers, events and logs, and contains no secret. */
export const acceptRequestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && /^[\w.:@/-]{1,128}$/.test(given) && !hasSecret(given) ? given : randomUUID()

const hasSecret = (id: string): boolean => containsCredential(id) || isCardNumberInId(id)

/** The `Idempotency-Key` is stored, so a secret or a card number is refused. */
export function parseIdempotencyKey(given: string | undefined): string | null {
  if (given === undefined) return null
  if (!/^[\x21-\x7e]{1,255}$/.test(given))
    throw new Problem('invalid_request', 'Idempotency-Key: 1 to 255 visible ASCII characters, no spaces.')
  if (isCardNumberInId(given))
    throw new Problem(
      'invalid_request',
      'Idempotency-Key: this looks like the number of a card. Never send one: make the key of random characters.',
    )
  return given
}

export const baseHeaders = (requestId: string): ResponseHeaders => ({
  'X-Data-Residency': RESIDENCY,
  'X-Request-Id': requestId,
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
})

export async function sendOutcome(
  response: ServerResponse,
  headers: ResponseHeaders,
  outcome: ApiResponse,
): Promise<void> {
  const { status, body, errorCode, replayed, cache, maxAge } = outcome
  Object.assign(headers, outcome.headers)
  if (body !== null && isStreamedContent(body)) return stream(response, headers, outcome, body)
  if (errorCode) headers['X-Error-Code'] = errorCode
  if (WAITING_STATUSES.includes(status)) headers['Retry-After'] ??= RETRY_AFTER_SECONDS
  if (replayed) headers['Idempotent-Replayed'] = 'true'
  if (body !== null) {
    describe(headers, outcome)
    if (cache) return sendCached(response, headers, { status, content: body, cache })
    if (maxAge !== undefined && isUnchanged(response, headers, body, maxAge))
      return void response.writeHead(304, headers).end()
    headers['Content-Length'] = Buffer.byteLength(body)
  }
  response.writeHead(status, headers).end(body ?? undefined)
}

function isUnchanged(
  { req }: ServerResponse,
  headers: ResponseHeaders,
  body: string | Uint8Array,
  maxAge: number,
): boolean {
  const tag = `"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  Object.assign(headers, { ETag: tag, 'Cache-Control': `public, max-age=${maxAge}` })
  if (!isKnown(req.headers, tag)) return false
  delete headers['Content-Type']
  return true
}

function describe(headers: ResponseHeaders, { type = JSON_TYPE, name }: ApiResponse): void {
  headers['Content-Type'] = type
  if (name) headers['Content-Disposition'] = attachmentAs(name)
  if (type.startsWith('text/html')) Object.assign(headers, { ...PAGE_HEADERS, ...headers })
}

/**
 * Writes a name beyond ASCII once more as RFC 8187 prescribes. The first form never contains quotes or
 * control characters.
 */
function attachmentAs(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_')
  if (plain === name) return `attachment; filename="${name}"`
  const escaped = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    sign => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${escaped}`
}

/**
 * Writes only as fast as the client reads. An error before the first piece is still a refusal; a later one
 * cuts the connection, so that no client takes a part for the whole.
 */
async function stream(
  response: ServerResponse,
  headers: ResponseHeaders,
  outcome: ApiResponse,
  body: ByteStream,
): Promise<void> {
  const pieces = body[Symbol.asyncIterator]()
  try {
    const first = await pieces.next()
    if (response.destroyed) throw new ClientGone()
    describe(headers, outcome)
    response.writeHead(outcome.status, headers)
    if (first.done || response.req.method === 'HEAD') return void response.end()
    await pipeline(beginningWith(first.value, pieces), response).catch(throwAsGone)
  } finally {
    // The client has hung up, or wanted only the headers.
    await pieces.return?.()
  }
}

function throwAsGone(error: NodeJS.ErrnoException): never {
  throw error.code === 'ERR_STREAM_PREMATURE_CLOSE' ? new ClientGone() : error
}

async function* beginningWith<T>(first: T, rest: AsyncIterator<T>): AsyncGenerator<T> {
  yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}

export function sendProblem(
  response: ServerResponse,
  headers: ResponseHeaders,
  problem: Problem,
): Promise<void> {
  const { status, code, message } = problem
  Object.assign(headers, problem.headers)
  return sendOutcome(response, headers, { status, body: errorBody(message), errorCode: code })
}

export function refuseExpectation({ headers }: IncomingMessage, response: ServerResponse): void {
  const body = errorBody('Expect: only 100-continue is supported.')
  const outcome = { status: 417, body, errorCode: 'malformed_request' }
  void sendOutcome(response, baseHeaders(acceptRequestId(headers['x-request-id'])), outcome)
}

/**
 * Answers connections that never became a request: a broken request line, large headers, slow clients, too
 * many connections.
 */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const { status, message, code = 'malformed_request', headers = [] } = refusals[error.code ?? ''] ?? notHttp
  const body = errorBody(message)
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      `X-Data-Residency: ${RESIDENCY}`,
      `X-Request-Id: ${randomUUID()}`,
      `X-Error-Code: ${code}`,
      ...headers,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

interface RawRefusal {
  readonly status: string
  readonly message: string
  readonly code?: string
  readonly headers?: readonly string[]
}

const notHttp: RawRefusal = { status: '400 Bad Request', message: 'This is not valid HTTP.' }

const refusals: Readonly<Record<string, RawRefusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    message: 'The headers are larger than 16 KiB.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', message: 'The request did not arrive in time.' },
  TOO_MANY_CONNECTIONS: {
    status: '503 Service Unavailable',
    message: 'Your address has too many connections open to this service. Reuse them.',
    code: 'too_many_connections',
    headers: ['Retry-After: 1'],
  },
}

/** Headers are collected and written at once, since ten calls of `setHeader` show in a profile. */
export type ResponseHeaders = Record<string, string | number>

/** Versioned files are cached for good. Other files are revalidated at each use, and answered 304 if unchanged. */
const CACHE = { forGood: 'public, max-age=31536000, immutable', asking: 'public, no-cache' } as const

function sendCached(
  response: ServerResponse,
  headers: ResponseHeaders,
  {
    status,
    content,
    cache,
  }: { readonly status: number; readonly content: Uint8Array | string; readonly cache: CachedResponseFile },
): void {
  const { headers: asked } = response.req
  const wanted = preferredEncoding(asked['accept-encoding'])
  const encoding = wanted !== 'identity' && cache[wanted] ? wanted : 'identity'
  const tag = `"${cache.version}${encoding === 'identity' ? '' : `-${encoding}`}"`
  Object.assign(headers, {
    ETag: tag,
    Vary: [headers.Vary, 'Accept-Encoding'].filter(Boolean).join(', '),
    'Cache-Control': cache.isImmutable ? CACHE.forGood : CACHE.asking,
  })
  if (isKnown(asked, tag)) return void response.writeHead(304, withoutContent(headers)).end()
  const body = (encoding !== 'identity' && cache[encoding]) || content
  if (encoding !== 'identity') headers['Content-Encoding'] = encoding
  headers['Content-Length'] = Buffer.byteLength(body)
  response.writeHead(status, headers).end(body)
}

/** GET compares ETags weakly, since a proxy may have marked them as weak. */
function isKnown({ 'if-none-match': asked }: IncomingMessage['headers'], tag: string): boolean {
  const known = (asked ?? '').split(',').map(one => one.trim().replace(/^W\//, ''))
  return known.includes(tag) || known.includes('*')
}

const withoutContent = ({ 'Content-Type': _, ...headers }: ResponseHeaders): ResponseHeaders => headers

type Encoding = 'br' | 'gzip' | 'identity'

const ENCODINGS: readonly Encoding[] = ['br', 'gzip', 'identity']

export function preferredEncoding(accepted = ''): Encoding {
  const weights = new Map(accepted.toLowerCase().split(',').map(weightOf))
  const weightFor = (encoding: Encoding): number =>
    weights.get(encoding) ?? (encoding === 'identity' ? LEAST : (weights.get('*') ?? 0))
  const [best = 'identity'] = ENCODINGS.toSorted((one, other) => weightFor(other) - weightFor(one))
  return weightFor(best) > 0 ? best : 'identity'
}

/** The weight of `identity` if the client does not name it. */
const LEAST = 0.0001

function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map(piece => piece.trim())
  const given = parameters.find(parameter => parameter.startsWith('q='))
  return [name, given === undefined ? 1 : Number(given.slice(2)) || 0]
}
