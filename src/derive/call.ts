/** The part of a contract that a call needs. The table of commands contains no more. */
export interface CallTarget {
  readonly method: string
  readonly path: string
}

export interface CallCredentials {
  readonly url: string
  readonly token?: string
  readonly dashboardSecret?: string
  /**
   * Sent with each request. A page of the service needs none, since the browser sends the cookie of the
   * session itself.
   */
  readonly headers?: Readonly<Record<string, string>>
}

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly idempotencyKey?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface CallRequest {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

interface AnswerHeaders {
  get(name: string): string | null
}

export interface CallAnswer<T, H extends AnswerHeaders = Headers> {
  readonly status: number
  readonly headers: H
  /** For a status of 400 and above: `{ error }`. */
  readonly body: T
  readonly error: string | undefined
  readonly code: string | undefined
}

/** Every client builds its requests here, either from the contract or from its line in the table of commands. */
export const buildApiRequest = (
  credentials: CallCredentials,
  { method, path }: CallTarget,
  input: CallInput,
): CallRequest => ({
  url: addressOf(credentials.url, path, input),
  method,
  headers: headersOf(credentials, input),
  ...(input.body === undefined ? {} : { body: JSON.stringify(input.body, exactly) }),
})

/** JSON would have null in place of NaN, and a limit that is null is none. */
function exactly(name: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value))
    throw new TypeError(`${name}: ${value} is no number that JSON can hold`)
  return value
}

/** `.` and `..` would change the path, even if they are encoded. */
function segmentOf(value: string): string {
  if (/^\.{0,2}$/.test(value)) throw new TypeError(`'${value}' names nothing`)
  return encodeURIComponent(value)
}

const ORIGIN = /^[a-z]+:\/\/[^/?#]+/i

/** Returns a text, since the sender parses it, and parsing twice would take a tenth of a call. */
function addressOf(base: string, path: string, { params = {}, query }: CallInput): string {
  const origin = ORIGIN.exec(base)?.[0] ?? ''
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => segmentOf(params[name] ?? ''))
  return origin + filled + (query ? questionOf(query) : '')
}

function questionOf(query: Readonly<Record<string, unknown>>): string {
  const asked = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) asked.set(name, String(value))
  const text = asked.toString()
  return text === '' ? '' : `?${text}`
}

function headersOf(
  { token, dashboardSecret, headers: own }: CallCredentials,
  { body, idempotencyKey, headers }: CallInput,
): Record<string, string> {
  return {
    ...(token ? { authorization: `Bearer ${token}` } : {}),
    ...(dashboardSecret ? { 'x-dashboard-secret': dashboardSecret } : {}),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    ...own,
    ...headers,
  }
}

const JSON_TYPE = /^application\/(problem\+)?json/

export function parseCallAnswer<H extends AnswerHeaders>(
  status: number,
  headers: H,
  text: string,
): CallAnswer<unknown, H> {
  const body = contentOf(headers, text)
  const error = status < 400 ? undefined : (body as { error?: string } | undefined)?.error
  return { status, headers, body, error, code: headers.get('x-error-code') ?? undefined }
}

function contentOf(headers: AnswerHeaders, text: string): unknown {
  if (text === '') return undefined
  return headers.get('content-type')?.match(JSON_TYPE) ? JSON.parse(text) : text
}
