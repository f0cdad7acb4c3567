import type { CsvFile } from './csv-file.ts'

/** A refusal by the business: a handler returns it, and what the handler wrote is committed. */
export class Refusal {
  readonly status: number
  readonly code: string
  readonly message: string
  /** What the caller needs next: the header `Link`, which `links` of the refusal's form says. */
  readonly link: string | undefined

  constructor(status: number, code: string, message: string, link?: string) {
    this.status = status
    this.code = code
    this.message = message
    this.link = link
  }

  linking(link: string): Refusal {
    return new Refusal(this.status, this.code, this.message, link)
  }
}

export class RefusedError extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** An answer or a refusal with headers of its own: those that the contract names for its status. */
export class AnswerWithHeaders<A> {
  readonly answer: A
  readonly headers: Readonly<Record<string, string>>

  constructor(answer: A, headers: Readonly<Record<string, string>>) {
    this.answer = answer
    this.headers = headers
  }
}

export const withHeaders = <A>(answer: A, headers: Readonly<Record<string, string>>): AnswerWithHeaders<A> =>
  new AnswerWithHeaders(answer, headers)

/** The work goes on after the answer, which is the record of it: 202, and the schema `accepted` of the contract. */
export class Accepted {
  readonly record: object

  constructor(record: object) {
    this.record = record
  }
}

/** `CsvFile`: where `context.asCsv`. */
export type HandlerAnswer<R> = R | Refusal | Accepted | CsvFile | AnswerWithHeaders<R | Refusal>

/** The client has closed its connection before its answer began: no answer is sent, and nothing has failed. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone'
}

/** An error that stops a request before or around its handler. Everything that the request did is rolled back. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ProblemCode, message?: string, headers: Record<string, string> = {}) {
    const [status, text] = universalProblems[code]
    super(message ?? text)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** A system of a mode; undefined where the mode has none, of which the problem tells. */
export function ifConfigured<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

export const universalProblems = {
  invalid_request: [400, 'The request is not valid.'],
  invalid_json: [400, 'The body is not valid JSON.'],
  body_incomplete: [400, 'The body is incomplete. Nothing was done.'],
  invalid_cursor: [400, 'cursor: this is not a cursor of this list; take nextCursor from its last page.'],
  invalid_run: [400, 'X-Run-Id: you have no such run, or it has ended.'],
  unknown_reference: [404, 'The request names a record that does not exist.'],
  storage_full: [400, 'Your storage quota is used up.'],
  unauthenticated: [401, 'Send a valid key or token: Authorization: Bearer <token>.'],
  invalid_dpop_proof: [
    401,
    'DPoP: the proof is missing. This key is bound to a device: send a new proof with each request (RFC 9449).',
  ],
  account_suspended: [403, 'This account is suspended. Its keys and tokens work again once it is active.'],
  wrong_caller: [403, 'This kind of credential may not call this operation.'],
  cross_site: [
    403,
    'With a session cookie, only pages of this service can call this (Sec-Fetch-Site: same-origin). Programs use a key.',
  ],
  missing_scope: [403, 'The credential lacks the scope that this operation needs.'],
  not_found: [404, 'No such path. See /docs for all operations.'],
  method_not_allowed: [405, 'This path does not allow this method.'],
  body_too_slow: [408, 'The body took too long to arrive. Nothing was done.'],
  in_progress: [409, 'A request with this Idempotency-Key is still running. Try again in a moment.'],
  body_too_large: [413, 'The body is larger than this operation accepts.'],
  unsupported_media_type: [415, 'Send the body as application/json, uncompressed, in UTF-8.'],
  idempotency_key_reused: [422, 'This Idempotency-Key was used with a different request. Use a new key.'],
  rate_limited: [429, 'Too many requests from this address: 100 a minute. Wait 12 seconds.'],
  internal: [500, 'An internal error occurred. Contact the operator with the X-Request-Id of this answer.'],
  busy: [503, 'Too many concurrent changes of these records. Try again.'],
  not_configured: [503, 'This needs a bank or processor, and none is configured.'],
  files_unavailable: [503, 'The file storage is not writable at the moment. Nothing was done; try again.'],
  passkeys_unavailable: [503, 'Passkeys are not possible at this installation’s address.'],
  overloaded: [503, 'Too many large uploads at the moment. Nothing was done; try again.'],
  outcome_unknown: [
    503,
    'The database connection was lost and the outcome is unknown. Repeat the request with the same Idempotency-Key, or check the record first.',
  ],
  unavailable: [503, 'The database cannot be reached. Try again in a moment.'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof universalProblems
