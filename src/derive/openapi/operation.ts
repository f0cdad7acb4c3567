import type { z } from 'zod'
import { CSV_TYPE } from '../../kernel/contract/csv-file.ts'
import { lineSchemaOf, mediaTypeOf, streamItemSchemaOf } from '../../kernel/contract/file.ts'
import {
  type AnyOperation,
  callsOutside,
  formatKiB,
  maxBodyBytes,
  needsSignIn,
  type RegisteredOperation,
  type RequestLimits,
  readsRawBody,
  refusalFormOf,
  SIGN_IN_PATH,
  takesIdempotencyKey,
} from '../../kernel/contract/operation.ts'
import { acceptsFiles, acceptsForm, findUploads, maxUploadBytes } from '../../kernel/contract/upload.ts'
import type { RefusalCollector } from './errors.ts'
import { type ExampleValues, schemaExample } from './example.ts'
import { operationResponseHeaders } from './headers.ts'
import {
  headerParameter,
  ownHeaderParameters,
  type ParameterExample,
  pathParameters,
  queryParameters,
} from './parameters.ts'
import type { SchemaCollector } from './schemas.ts'
import { describeOperationAccess, isTenantCaller, securityRequirements } from './security.ts'
import type { JsonSchema, MediaTypeObject, OperationObject, ResponseObject } from './types.ts'

export interface OperationObjectParts {
  readonly schemas: SchemaCollector
  readonly errors: RefusalCollector
  readonly parameterExample: ParameterExample
}

/** Marks the paragraph of a description that repeats in words what the members of the object say to programs. */
export const ACCESS_HEADING = '**Access**'

export function operationObject(
  registered: RegisteredOperation,
  known: ExampleValues,
  parts: OperationObjectParts,
): OperationObject {
  const { key, tag, operation } = registered
  const events = Object.keys(operation.emits)
  const aliases = aliasesOf(registered)
  return {
    operationId: key,
    tags: [tag],
    summary: operation.summary,
    description: descriptionOf(operation, events, aliases),
    ...(operation.scope ? { 'x-scope': operation.scope } : {}),
    ...(events.length > 0 ? { 'x-events': events } : {}),
    ...(aliases.length > 0 ? { 'x-aliases': aliases } : {}),
    ...paymentInfoOf(operation),
    security: securityRequirements(operation),
    parameters: parametersOf(operation, parts),
    ...requestBodyOf(operation, parts.schemas),
    responses: {
      [operation.returns[0]]: successOf(operation, known, parts.schemas),
      ...acceptedOf(operation, known, parts.schemas),
      ...signInOf(operation),
      ...parts.errors.add(operation),
    },
  }
}

function paymentInfoOf(operation: AnyOperation): Pick<OperationObject, 'x-payment-info'> {
  const { asks } = refusalFormOf(operation, 'payment_required')
  return asks ? { 'x-payment-info': asks } : {}
}

/** The other paths of the operation. `servers` says once that each path is also served under `/v1`. */
const aliasesOf = ({ addresses, operation: { path } }: RegisteredOperation): string[] =>
  addresses.filter(address => address !== path && !(address.startsWith('/v1/') && !path.startsWith('/v1/')))

export const eventAndAliasParagraphs = (events: readonly string[], aliases: readonly string[]): string[] => [
  ...(events.length > 0 ? [`**Events** ${listed(events)}.`] : []),
  ...(aliases.length > 0 ? [`**Also at** ${listed(aliases)}.`] : []),
]

const listed = (names: readonly string[]): string => names.map(name => `\`${name}\``).join(', ')

function descriptionOf(
  operation: AnyOperation,
  events: readonly string[],
  aliases: readonly string[],
): string {
  const facts = [
    `${ACCESS_HEADING} ${describeOperationAccess(operation)}`,
    ...(operation.keyOnly ? [`Not open to people in the console: ${operation.keyOnly}`] : []),
    ...(operation.limits?.oneAtATime
      ? [
          'Expensive: an owner’s run one at a time; after 10 seconds of waiting one is refused as `rate_limited`.',
        ]
      : []),
    ...unmeteredFacts(operation.limits),
    ...eventAndAliasParagraphs(events, aliases),
  ]
  return [operation.description, csvSentence(operation), facts.join(' ')].filter(Boolean).join('\n\n')
}

const csvSentence = ({ csv }: AnyOperation): string | undefined =>
  csv && `With \`Accept: ${CSV_TYPE}\` the answer is a table (RFC 4180 in UTF-8): ${csv}.`

function unmeteredFacts({ unmetered }: RequestLimits = {}): string[] {
  if (unmetered === 'existing')
    return ['Only searches, and missing pages in a browser, count against the rate limit.']
  return unmetered ? ['It is outside the rate limit.'] : []
}

/** Work on another system goes on after the answer; anything else that is accepted waits for people. */
export const isAnsweredEarly = (operation: AnyOperation): boolean =>
  operation.accepted !== undefined && callsOutside(operation)

const parametersOf = (operation: AnyOperation, { schemas, parameterExample }: OperationObjectParts) => [
  ...pathParameters(operation, parameterExample),
  ...(operation.query ? queryParameters(schemas.add(operation.query)) : []),
  ...(takesIdempotencyKey(operation)
    ? [headerParameter(operation.http?.keyRequired ? 'RequiredIdempotencyKey' : 'IdempotencyKey')]
    : []),
  ...(isAnsweredEarly(operation) ? [headerParameter('Prefer')] : []),
  ...ownHeaderParameters(operation),
  headerParameter('RequestId'),
  ...(operation.callers.some(isTenantCaller) ? [headerParameter('RunId')] : []),
]

function requestBodyOf(operation: AnyOperation, schemas: SchemaCollector) {
  const { body, example } = operation
  const description = `At most ${formatKiB(maxBodyBytes(operation))}.`
  if (readsRawBody(operation) && operation.method !== 'GET')
    return { requestBody: { description, required: false, content: { '*/*': { schema: BYTES } } } }
  if (!body) return {}
  const schema = schemas.add(body)
  const content = { schema, ...(example === undefined ? {} : { example }) }
  return {
    requestBody: {
      description: acceptsFiles(operation) ? uploadWords(operation) : description,
      required: isBodyRequired(body),
      content: { 'application/json': content, ...otherForms(operation, content, schemas) },
    },
  }
}

const uploadWords = (operation: AnyOperation): string =>
  `As a form at most ${formatKiB(maxUploadBytes(operation, true))}, as JSON ${formatKiB(maxUploadBytes(operation, false))}.`

function otherForms(
  operation: AnyOperation,
  json: MediaTypeObject,
  schemas: SchemaCollector,
): Record<string, MediaTypeObject> {
  if (acceptsForm(operation)) return { 'application/x-www-form-urlencoded': json }
  if (!acceptsFiles(operation)) return {}
  return { 'multipart/form-data': { schema: schemas.asForm(operation.body, findUploads(operation.body)) } }
}

/** An empty body means `{}`, so a body is required only if `{}` is invalid. */
export const isBodyRequired = (body: z.ZodType): boolean => !body.safeParse({}).success

function successOf(operation: AnyOperation, known: ExampleValues, schemas: SchemaCollector): ResponseObject {
  const [status, schema] = operation.returns
  const replayed = takesIdempotencyKey(operation) ? (['Idempotent-Replayed'] as const) : []
  const headers = operationResponseHeaders(operation, status, ...replayed)
  if (status === 204) return { description: 'Done; there is nothing to return.', headers }
  const type = mediaTypeOf(schema)
  const item = streamItemSchemaOf(schema)
  if (type && item) {
    const description = 'Messages that go on, each with a record as its data.'
    return {
      description,
      headers,
      content: { [type]: streamContent(schemas.add(item), jsonOf(item, known, schemas)) },
    }
  }
  const line = lineSchemaOf(schema)
  if (type && line) {
    const { example } = jsonOf(line, known, schemas)
    const lines = { schema: { type: 'string' }, example: `${JSON.stringify(example)}\n` }
    const content = { [type]: { ...lines, 'x-lineSchema': schemas.add(line) } }
    return { description: 'JSON objects, one per line.', headers, content }
  }
  if (type)
    return { description: 'The content.', headers, content: { [type]: { schema: contentSchema(type) } } }
  return {
    description: status === 201 ? 'Created.' : 'Done.',
    headers,
    content: {
      'application/json': jsonOf(schema, known, schemas),
      ...(operation.csv ? { [CSV_TYPE]: { schema: { type: 'string' } } } : {}),
    },
  }
}

function acceptedOf(
  operation: AnyOperation,
  known: ExampleValues,
  schemas: SchemaCollector,
): Record<string, ResponseObject> {
  if (!operation.accepted) return {}
  const replayed = takesIdempotencyKey(operation) ? (['Idempotent-Replayed'] as const) : []
  const headers = {
    ...operationResponseHeaders(operation, 202, ...replayed),
    ...(operation.goesOnAt && wayOnHeaders(operation.goesOnAt)),
  }
  const content = { 'application/json': jsonOf(operation.accepted, known, schemas) }
  const description = isAnsweredEarly(operation)
    ? 'With `Prefer: respond-async`: the work goes on.'
    : 'It waits for people.'
  return { 202: { description, headers, content } }
}

const wayOnHeaders = (path: string) => ({
  'Preference-Applied': {
    description: 'The preference that was taken.',
    schema: { type: 'string', const: 'respond-async' },
  },
  Location: { description: `Where it can be followed: \`${path}\`.`, schema: { type: 'string' } },
})

const BYTES: JsonSchema = { type: 'string', format: 'binary' }

/** Free JSON may be any value. Generators make a file of other content. */
const contentSchema = (type: string): JsonSchema => (type === 'application/json' ? {} : BYTES)

/** OpenAPI 3.1 has no keyword for the records of a stream; 3.2 calls it `itemSchema`. */
function streamContent(item: JsonSchema, { example }: MediaTypeObject): MediaTypeObject {
  const { id } = example as { readonly id: string }
  return {
    schema: { type: 'string' },
    example: `id: ${id}\ndata: ${JSON.stringify(example)}\n\n`,
    'x-itemSchema': item,
  }
}

/** A page for people redirects a browser without a session to the sign-in. */
function signInOf(operation: AnyOperation): Record<string, ResponseObject> {
  if (!needsSignIn(operation)) return {}
  const Location = { description: `Where people sign in: \`${SIGN_IN_PATH}\`.`, schema: { type: 'string' } }
  return { 303: { description: 'Not signed in, and `Accept` has `text/html`.', headers: { Location } } }
}

function jsonOf(schema: z.ZodType, known: ExampleValues, schemas: SchemaCollector): MediaTypeObject {
  const json = schemas.add(schema)
  return { schema: json, example: schemaExample(json, schemas.all(), known) }
}
