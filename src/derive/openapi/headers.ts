import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { HeaderObject, ParameterObject, ResponseObject, SchemaReference } from './types.ts'

const text = (description: string, example: string): HeaderObject => ({
  description,
  schema: { type: 'string', examples: [example] },
})

const count = (description: string, example: number): HeaderObject => ({
  description,
  schema: { type: 'integer', minimum: 0, examples: [example] },
})

export const REFUSAL_CODE_HEADER = 'X-Error-Code'
const REPLAY_HEADER = 'Idempotent-Replayed'
const refusalCode = 'What went wrong, for programs.'

export const responseHeaders = {
  'X-Request-Id': text(
    'Identifies this request in logs, in its events and in their webhooks.',
    '4b0a9e51-7d1f-4a0e-9a53-1f6f1d1a2c3b',
  ),
  'X-Data-Residency': { description: 'Where all data is kept.', schema: { type: 'string', const: 'EU' } },
  'X-RateLimit-Limit': count(
    'Requests per minute allowed for this client address, and for this credential.',
    100,
  ),
  'X-RateLimit-Remaining': count('Remaining requests of the one that has fewer left.', 99),
  'X-RateLimit-Reset': count('When the window ends, in Unix seconds.', 1_795_167_060),
  'Retry-After': count('Seconds to wait before trying again.', 12),
  Link: text(
    'What a passkey must sign first, as `rel="challenge"`. The session or key that was refused reads it with `GET /passkeys/challenges/{id}`.',
    '</passkeys/challenges/challenge_01jd8x2m4ye7k9v0c3q5r6t8wz>; rel="challenge"',
  ),
  [REPLAY_HEADER]: {
    description: 'This answer was given before, to the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
} as const satisfies Record<string, HeaderObject>

type HeaderName = keyof typeof responseHeaders

const everywhere: readonly HeaderName[] = ['X-Request-Id', 'X-Data-Residency']

const metered: readonly HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

export const anyRefusalCodeHeader: HeaderObject = { description: refusalCode, schema: { type: 'string' } }

export const refusalCodeHeader = (codes: readonly string[]): HeaderObject => ({
  description: refusalCode,
  schema: { type: 'string', enum: codes },
})

const waits = new Set([429, 503])

export const operationResponseHeaders = (
  { limits, http, csv }: Pick<AnyOperation, 'limits' | 'http' | 'csv'>,
  status: number,
  ...more: HeaderName[]
): Record<string, HeaderObject | SchemaReference> => {
  const retryAfter = waits.has(status) ? (['Retry-After'] as const) : []
  const names = [...everywhere, ...(limits?.unmetered ? [] : metered), ...retryAfter, ...more]
  const ownOfStatus: Readonly<Record<string, string>> = {
    ...http?.headers?.[status],
    ...(csv && status === 200 && { Vary: '`Accept`.' }),
  }
  return {
    ...Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])),
    ...Object.fromEntries(
      Object.entries(ownOfStatus).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' } },
      ]),
    ),
  }
}

/**
 * The introduction describes the headers of every answer, and the one of replays. An answer that has them all
 * does not repeat them.
 */
const ALWAYS: readonly string[] = [...everywhere, ...metered]

const wordless = (header: HeaderObject | SchemaReference): HeaderObject | SchemaReference =>
  'schema' in header && header.description === refusalCode ? { schema: header.schema } : header

export function omitCommonResponseHeaders(response: ResponseObject): ResponseObject {
  const { headers: all = {}, ...rest } = response
  const isShorter = ALWAYS.every(name => name in all)
  const own = Object.entries(all)
    .filter(([name]) => !(isShorter && ALWAYS.includes(name)) && name !== REPLAY_HEADER)
    .map(([name, header]) => [name, wordless(header)])
  return own.length === 0 ? rest : { ...response, headers: Object.fromEntries(own) }
}

export const withReplayHeader = (response: ResponseObject): ResponseObject => ({
  ...response,
  headers: { ...response.headers, [REPLAY_HEADER]: { $ref: `#/components/headers/${REPLAY_HEADER}` } },
})

export function withCommonHeaders(response: ResponseObject): ResponseObject {
  const { headers: given = {} } = response
  const { [REFUSAL_CODE_HEADER]: code, ...others } = given
  const own =
    code && 'schema' in code
      ? { [REFUSAL_CODE_HEADER]: { description: refusalCode, ...code }, ...others }
      : given
  const always = ALWAYS.some(name => name in own)
    ? []
    : ALWAYS.map(name => [name, { $ref: `#/components/headers/${name}` }])
  return { ...response, headers: { ...own, ...Object.fromEntries(always) } }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A name of your own for this request, kept for 24 hours. Sent again with the same body it gets the same answer and has no second effect; after a 429 or 503 it is decided anew.',
  schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  example: '6f1c2b0e-research-budget',
} as const satisfies ParameterObject

export const headerParameters = {
  IdempotencyKey: idempotencyKey,
  RequiredIdempotencyKey: { ...idempotencyKey, required: true },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async` (RFC 7240): answer at once, with 202 and the record of what goes on. Events tell of its outcome.',
    schema: { type: 'string', maxLength: 256 },
    example: 'respond-async',
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Your own id of this request, used instead of a generated one.',
    schema: { type: 'string', pattern: '^[\\w.:@/-]{1,128}$' },
    example: 'checkout-42/step-7',
  },
  RunId: {
    name: 'X-Run-Id',
    in: 'header',
    description:
      'The run that this request belongs to, one of yours that has not ended: what the request causes is in its timeline, and an intent is declared within its budget.',
    schema: { type: 'string', maxLength: 128 },
    example: 'run_01jd8x2m4ye7k9v0c3q5r6t8wz',
  },
} as const satisfies Record<string, ParameterObject>
