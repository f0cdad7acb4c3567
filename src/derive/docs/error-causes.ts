import type { ProblemCode } from '../../kernel/contract/problem.ts'
import type { DocsBook, OperationEntry } from './book.ts'
import type { CodeSamples } from './panel.ts'
import type { RefusalCode } from './refusal-codes.ts'
import { codeSamples } from './samples.ts'

const universalCauses: Readonly<Record<ProblemCode, string>> = {
  invalid_request:
    'A field is missing, has another type or format, exceeds its bounds, or is not known to the operation. The sentence names the first such fields and what was sent.',
  invalid_json: 'The body was cut off, has a trailing comma or an unquoted name, or is not UTF-8.',
  body_incomplete: 'The connection ended before all bytes that `Content-Length` announces had arrived.',
  invalid_cursor:
    'A cursor works only for the list, filters and owner that it came from. It was shortened, typed by hand, or sent with other filters.',
  invalid_run: 'The header `X-Run-Id` names a run that has ended, or that belongs to another agent or owner.',
  unknown_reference:
    'A field of the body names a record that this credential does not see: of another owner, of the other mode, or deleted.',
  unauthenticated:
    'The header is missing or misspelt, or the key was shortened, revoked, rotated or has expired. A key of another installation is unknown here.',
  invalid_dpop_proof:
    'The key is bound to the key of a device. The request has no proof, or one for another method, address or time.',
  account_suspended: 'The operator of this installation has suspended the account, or its data was erased.',
  wrong_caller:
    'The operation is for another kind of caller: for example for an owner’s key and not for an agent’s token, or for the operator.',
  cross_site: 'A page of another site sent the request with the cookie of a session.',
  missing_scope: 'The key or token was created with fewer scopes than this operation needs.',
  not_found: 'The path is misspelt, or belongs to a later version than the one that runs.',
  method_not_allowed: 'The path exists, but not with this method.',
  body_too_slow:
    'The body took longer than its limit, often on a mobile connection or behind a proxy that holds it.',
  in_progress:
    'A first request with the same Idempotency-Key has not been answered yet. A client that repeats too early sees this.',
  body_too_large: 'A body has at most 64 KiB, unless the operation says more.',
  unsupported_media_type:
    'The header `Content-Type` is missing, or names a type that the operation does not read.',
  idempotency_key_reused:
    'The key was sent before with another body or to another operation. It belongs to that request for 24 hours.',
  rate_limited:
    'This address has sent more requests in a minute than the installation allows. Polling in a loop is the usual cause.',
  internal: 'A defect of the service. It is in its log, under the id in `X-Request-Id`.',
  busy: 'Many requests change the same records, such as one wallet, at the same time.',
  not_configured: 'Live mode needs a bank or a card processor, which the operator has not set up here.',
  files_unavailable: 'The disk or bucket of the operator is full, or does not answer.',
  storage_full: 'Receipts and evidence of this owner use all of their storage.',
  passkeys_unavailable:
    'Browsers offer passkeys only under a host name with https, or on `localhost`. `PUBLIC_URL` is another address.',
  overloaded: 'Uploads share a bounded amount of memory, and others use it at the moment.',
  outcome_unknown:
    'The connection to the database broke while the change was being committed, so it may have happened or not.',
  unavailable: 'The service runs, but PostgreSQL does not answer: it is restarting, or cannot be reached.',
}

/** By the end or the beginning of a code, the first that fits. */
const causes: readonly (readonly [RegExp, string])[] = [
  [
    /_not_found$|_unknown$/,
    'No record that this credential sees has this id. It belongs to another owner or agent or to the other mode (test or live), was deleted, or the id is misspelt.',
  ],
  [
    /^too_many_|_full$|^too_much|_too_often$/,
    'The number of such records or requests is limited, so that one caller cannot use up what all share.',
  ],
  [
    /_expired$|_over$|_outdated$|^expired_|^too_late$|_gone$|_lost$/,
    'Its time is over. Challenges, codes, links and requests are valid for a limited time. In test mode, most follow your test clock.',
  ],
  [
    /_used$|_redeemed$|_charged$|_paid$/,
    'It works once, and that has happened. A client that repeats a request without its `Idempotency-Key` sees this as well.',
  ],
  [/_revoked$|_denied$|_dismissed$/, 'A person, the operator or a rule has ended it. It does not come back.'],
  [/_taken$|_exists$|_twice$/, 'The value must be unique, and another record has it.'],
  [
    /_under_way$|_pending$|_applying$|^verifying$|_waiting$|_awaited$|being_|_not_issued$|_not_ready$/,
    'An earlier request on the same record has not ended yet, for instance at a bank, a processor or a merchant.',
  ],
  [
    /exceed|above|insufficient_funds|beyond|too_high|wider|too_long|_limit/,
    'The amount or span is larger than the limit, the record or the balance allows. Money that is held for other payments is not available.',
  ],
  [
    /insufficient|_not_held$|not_allowed|forbidden|foreign|_only$|of_other|_other_|against_policy|refused/,
    'The request is understood, but a rule, a role, a mode or the owner of the record does not allow it.',
  ],
  [
    /_required$|_missing$|_needed$|_unnamed$/,
    'The request lacks something that the operation needs in this situation.',
  ],
  [
    /_silent$|unavailable|unreachable|_away$|_timeout$|_unusable$|corrupt|damaged/,
    'A system outside of this service, such as a bank, a processor, a merchant or the file storage, has not given a usable answer.',
  ],
  [
    /malformed|invalid|unreadable|mismatch|differs|unlikely|does_not_fit|in_past|too_early|to_come/,
    'A value was read, but it does not fit its format, its signature, its time or the record that it belongs to.',
  ],
  [
    /_not_|_closed$|_ended$|_decided$|_deleted$|_frozen$|^already_|_already$|_verified$|_acknowledged$|_begun$|_open$/,
    'The record is in a state in which this operation is not possible. A person, an agent or a deadline may have changed it since you read it.',
  ],
]

const causesByStatus: Readonly<Record<string, string>> = {
  4: 'The request is well formed, but what your records are and contain at the moment does not allow it.',
  5: 'A part of this installation, or a system that it calls, does not work as it should at the moment.',
  3: 'The address has moved.',
}

export function causeOf({ code, statuses, isUniversal }: RefusalCode): string {
  if (isUniversal) return universalCauses[code as ProblemCode]
  const [, cause] = causes.find(([pattern]) => pattern.test(code)) ?? []
  return cause ?? causesByStatus[statuses[0]?.at(0) ?? '4'] ?? ''
}

/** The operation that helps with a code of any operation. */
const universalSamples: Readonly<Record<ProblemCode, string>> = {
  invalid_request: 'intents.create',
  invalid_json: 'intents.create',
  body_incomplete: 'intents.create',
  invalid_cursor: 'intents.list',
  invalid_run: 'runs.create',
  unknown_reference: 'agents.list',
  unauthenticated: 'customers.me',
  invalid_dpop_proof: 'sessions.begin',
  account_suspended: 'customers.me',
  wrong_caller: 'agentTokens.create',
  cross_site: 'keys.create',
  missing_scope: 'keys.create',
  not_found: 'agents.list',
  method_not_allowed: 'intents.create',
  body_too_slow: 'receipts.create',
  in_progress: 'intents.create',
  body_too_large: 'receipts.create',
  unsupported_media_type: 'intents.create',
  idempotency_key_reused: 'intents.create',
  rate_limited: 'events.stream',
  internal: 'health.health',
  busy: 'intents.create',
  not_configured: 'health.health',
  files_unavailable: 'receipts.create',
  storage_full: 'receipts.storage',
  passkeys_unavailable: 'passkeys.origins',
  overloaded: 'receipts.create',
  outcome_unknown: 'intents.list',
  unavailable: 'health.health',
}

/** Repeated with the same key, such a request happens once. */
const REPEATED: ReadonlySet<string> = new Set([
  'body_incomplete',
  'in_progress',
  'idempotency_key_reused',
  'busy',
])

export interface MendingSample {
  readonly lead: string
  readonly code: CodeSamples
}

/** A call that helps: what the advice names, the list with the right id, the record's state, or the request as it succeeds. */
export function mendingSample(
  book: DocsBook,
  refusal: RefusalCode,
  advice: readonly string[],
): MendingSample {
  const { code, sentences, isUniversal } = refusal
  const byKey = (key: string): OperationEntry | undefined => book.entries.find(entry => entry.key === key)
  const [failing] = [...sentences.values()].flat()
  const of = (lead: string, entry: OperationEntry): MendingSample => ({
    lead,
    code: codeSamples(book, entry),
  })
  if (isUniversal) {
    const entry = byKey(universalSamples[code as ProblemCode])
    if (!entry) return { lead: '', code: {} }
    const sample = of(`For example, “${entry.operation.summary}”:`, entry)
    const key = ' \\\n  -H "Idempotency-Key: order-4711"'
    return REPEATED.has(code)
      ? { lead: 'A request that can be repeated:', code: { curl: sample.code.curl + key } }
      : sample
  }
  const named = operationNamedIn(book, [...advice, ...sentences.keys()])
  if (named) return of(`“${named.operation.summary}” helps:`, named)
  const noun = failing?.key.split('.')[0] ?? ''
  const list = /_not_found$/.test(code)
    ? byKey(`${inCamelCase(code.replace(/_not_found$/, ''))}s.list`)
    : undefined
  if (list) return of('Find an id that exists:', list)
  const read = failing?.method === 'GET' ? undefined : byKey(`${noun}.get`)
  const isState = causes.at(-1)?.[0].test(code) === true
  if (isState && read) return of('Read the record, and look at its status:', read)
  if (failing) return of('The request in full, as it succeeds:', failing)
  return { lead: '', code: {} }
}

function operationNamedIn(book: DocsBook, texts: readonly string[]): OperationEntry | undefined {
  const [, method, path = ''] =
    /\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]*[\w}])/.exec(texts.join('\n')) ?? []
  if (method === undefined) return undefined
  const shape = (text: string): string => text.replace(/\{\w+\}/g, '{}')
  return book.entries.find(entry => entry.method === method && shape(entry.path) === shape(path))
}

const inCamelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase())
