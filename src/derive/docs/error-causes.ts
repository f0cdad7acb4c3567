import type { ProblemCode } from '../../kernel/contract/problem.ts'
import type { DocsBook, OperationEntry } from './book.ts'
import { operationCauses } from './operation-causes.ts'
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
    'This address, or this credential from all addresses, has sent more requests in a minute than the installation allows. Polling in a loop is the usual cause.',
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

/** Undefined if the messages of the code, and the operations that return it, say all there is to say. */
export const causeOf = ({ code, isUniversal }: RefusalCode): string | undefined =>
  isUniversal ? universalCauses[code as ProblemCode] : operationCauses[code]

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

/** A call that helps: what the advice names, the list with the right id, the record, or the request as it succeeds. */
export function mendingSample(
  book: DocsBook,
  refusal: RefusalCode,
  advice: readonly string[],
): MendingSample {
  const { code, sentences, isUniversal } = refusal
  const byKey = (key: string): OperationEntry | undefined => book.entries.find(entry => entry.key === key)
  const failing = [...sentences.values()].flat()
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
  const [, missing] = /^(\w+)_not_found$/.exec(code) ?? []
  const list = missing === undefined ? undefined : book.entries.find(({ key }) => isListOf(missing, key))
  if (list) return of('Find an id that exists:', list)
  const read = failing.map(entry => readOperation(byKey, entry, code)).find(Boolean)
  if (read && missing === undefined) return of('Read the record as it is now:', read)
  const [first] = failing
  if (first) return of('The request in full, as it succeeds:', first)
  return { lead: '', code: {} }
}

function isListOf(record: string, key: string): boolean {
  const [noun = '', verb] = key.split('.')
  return verb === 'list' && singularOf(noun) === record
}

/** Reads the record that a failing operation changes, if the code is about that record. */
function readOperation(
  byKey: (key: string) => OperationEntry | undefined,
  { key, method, path }: OperationEntry,
  code: string,
): OperationEntry | undefined {
  const [noun = ''] = key.split('.')
  const read = method === 'GET' ? undefined : byKey(`${noun}.get`)
  const isOnRecord = read !== undefined && (path === read.path || path.startsWith(`${read.path}/`))
  return isOnRecord && code.startsWith(`${singularOf(noun)}_`) ? read : undefined
}

/** `card_request` of `cardRequests`. */
const singularOf = (noun: string): string =>
  noun
    .replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
    .replace(/ies$/, 'y')
    .replace(/s$/, '')

function operationNamedIn(book: DocsBook, texts: readonly string[]): OperationEntry | undefined {
  const [, method, path = ''] =
    /\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/{}.-]*[\w}])/.exec(texts.join('\n')) ?? []
  if (method === undefined) return undefined
  const shape = (text: string): string => text.replace(/\{\w+\}/g, '{}')
  return book.entries.find(entry => entry.method === method && shape(entry.path) === shape(path))
}
