import type { SlicedWork } from '../../kernel/contract/time-slices.ts'
import { ownValues, referencedName, schemaExample, withOwnValues } from './example.ts'
import { rewriteForGenerators } from './for-generators.ts'
import { anyRefusalCodeHeader, omitCommonResponseHeaders, REFUSAL_CODE_HEADER } from './headers.ts'
import { eventFamilies, type ShortOperation, withoutAccess } from './published-events.ts'
import { withExtendedRecords } from './published-records.ts'
import { isSameJson, mapValues, mapValuesInSlices, withSharedSchemas } from './published-schemas.ts'
import {
  compactRefusals,
  isRefusalResponse,
  type Refusals,
  refusedWith,
  resolveResponse,
  sharedSentences,
} from './refusal-words.ts'
import { usualSecurity } from './security.ts'
import type {
  JsonSchema,
  MediaTypeObject,
  OpenapiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaReference,
  Schemas,
  SecurityRequirement,
} from './types.ts'

export type CompactDocument = Omit<OpenapiDocument, 'paths' | 'webhooks' | 'components'> & {
  readonly security: readonly SecurityRequirement[]
  readonly paths: Paths<ShortOperation>
  readonly webhooks: { readonly event: { readonly post: OperationObject } }
  readonly components: Omit<OpenapiDocument['components'], 'responses'> & {
    readonly responses: Readonly<Record<string, ResponseObject | SchemaReference>>
  }
}

type Paths<T> = Readonly<Record<string, Readonly<Record<string, T>>>>

const REQUEST_ID = '#/components/parameters/RequestId'
const RUN_ID = '#/components/parameters/RunId'

type Parameters = NonNullable<OperationObject['parameters']>

/** Every operation takes it, as the introduction says. */
const withoutRequestId = (parameters: Parameters): Parameters =>
  parameters.filter(one => !('$ref' in one) || one.$ref !== REQUEST_ID)

/** It is the last one, before the run. */
export function withRequestId(parameters: Parameters): Parameters {
  const isRun = (one: Parameters[number]) => '$ref' in one && one.$ref === RUN_ID
  return [...parameters.filter(one => !isRun(one)), { $ref: REQUEST_ID }, ...parameters.filter(isRun)]
}

export function* compactDocument(document: OpenapiDocument): SlicedWork<CompactDocument> {
  const { components, webhooks, tags, openapi, info, servers } = document
  const schemas = yield* withExamples(document)
  const sentences = sharedSentences(refusalsIn(document))
  const refused = refusedWith(sentences)
  const refusals: Refusals = { whole: components.responses, sentences, refused }
  const parameters = new Repeats<ParameterObject>('parameters')
  // Some generators follow only one reference, so a shared part is a whole answer.
  const responses = new Repeats<ResponseObject | SchemaReference>('responses', one =>
    '$ref' in one ? resolveResponse(one, refused) : one,
  )
  const short = yield* mapOperations(document.paths, operation => {
    const shorter = shortened(operation, schemas, refusals)
    const { operationId, parameters: own = [] } = shorter
    for (const one of own)
      if ('name' in one) parameters.count(one, `${operationId}.${one.name}`, ...shortNameOf(one))
    for (const [status, one] of Object.entries(shorter.responses))
      responses.count(one, `${operationId}.${status}`)
    return shorter
  })
  const paths = yield* mapOperations(short, operation => ({
    ...operation,
    parameters: withoutRequestId(operation.parameters ?? []).map(one => parameters.replace(one)),
    responses: mapValues(operation.responses, one => responses.replace(one)),
  }))
  const events = eventFamilies(webhooks)
  const shorter: CompactDocument = {
    openapi,
    info,
    servers,
    security: usualSecurity,
    tags,
    paths,
    webhooks: { event: { post: events.post } },
    components: {
      ...components,
      headers: { ...components.headers, [REFUSAL_CODE_HEADER]: anyRefusalCodeHeader },
      schemas: { ...schemas, ...events.schemas },
      parameters: { ...components.parameters, ...parameters.all() },
      responses: {
        ...refused,
        ...(responses.all() as Record<string, ResponseObject>),
      },
    },
  }
  return yield* withSharedSchemas(withExtendedRecords(yield* rewriteForGenerators(shorter)))
}

const refusalsIn = ({ paths }: OpenapiDocument): ResponseObject[] =>
  operationsIn(paths)
    .flatMap(({ responses }) => Object.values(responses))
    .flatMap(one => ('$ref' in one || !isRefusalResponse(one) ? [] : [one]))

function shortened(operation: OperationObject, schemas: Schemas, refusals: Refusals): ShortOperation {
  const { requestBody } = operation
  const responses = mapValues(compactRefusals(operation.responses, refusals), one =>
    '$ref' in one ? one : withoutExample(omitCommonResponseHeaders(one), schemas),
  )
  return {
    ...withoutAccess(operation),
    ...(requestBody ? { requestBody: withoutLimit(requestBody) } : {}),
    responses,
  }
}

export const DEFAULT_BODY_LIMIT_TEXT = 'At most 64 KiB.'

type RequestBody = NonNullable<OperationObject['requestBody']>

function withoutLimit({ description, ...body }: RequestBody): RequestBody {
  return description === undefined || description === DEFAULT_BODY_LIMIT_TEXT
    ? body
    : { description, ...body }
}

function withoutExample(response: ResponseObject, schemas: Schemas): ResponseObject {
  const { schema, example, ...more } = jsonMediaTypeIn(response) ?? {}
  if (!schema || example === undefined || !isSameJson(schemaExample(schema, schemas), example))
    return response
  return { ...response, content: { ...response.content, 'application/json': { schema, ...more } } }
}

export const jsonMediaTypeIn = (response: ResponseObject | SchemaReference): MediaTypeObject | undefined =>
  'content' in response ? response.content?.['application/json'] : undefined

function* withExamples({ paths, components: { schemas } }: OpenapiDocument): SlicedWork<Schemas> {
  const examples = new Map<string, unknown>()
  for (const { responses } of operationsIn(paths)) {
    for (const response of Object.values(responses)) {
      const [name, value] = recordIn(jsonMediaTypeIn(response))
      if (name !== undefined && value !== undefined && !examples.has(name)) examples.set(name, value)
    }
    yield
  }
  const all = mapValues(schemas, (schema, name) =>
    examples.has(name) ? { ...schema, examples: [examples.get(name)] } : schema,
  )
  return mapValues(all, withExample => withShortExample(withExample, all))
}

/** Readers make most of an example from the examples of the members. */
function withShortExample(withExample: JsonSchema, all: Schemas): JsonSchema {
  const { examples: [example] = [], ...schema } = withExample
  const usual = schemaExample(schema, all)
  if (example === undefined || isSameJson(usual, example)) return schema
  const own = ownValues(example, usual)
  return isSameJson(withOwnValues(usual, own), example) ? { ...schema, 'x-example': own } : withExample
}

function recordIn({ schema, example }: MediaTypeObject = {}): [string?, unknown?] {
  if (schema?.$ref) return [referencedName(schema.$ref), example]
  const items = schema?.properties?.data?.items
  return items?.$ref && isPage(example) ? [referencedName(items.$ref), example.data[0]] : []
}

const isPage = (example: unknown): example is { data: unknown[] } =>
  typeof example === 'object' && example !== null && Array.isArray((example as { data?: unknown }).data)

/** Names of headers begin with a capital, and may be those of the parameters that all operations share. */
const shortNameOf = ({ name }: ParameterObject): string[] => (/^[a-z]/.test(name) ? [name] : [])

interface Repeated<T> {
  readonly part: T
  /** From long to short. */
  readonly names: readonly string[]
  times: number
}

class Repeats<T extends object> {
  readonly #kind: string
  readonly #wholeOf: (part: T) => T
  readonly #known = new Map<string, Repeated<T>>()
  #names: ReadonlyMap<string, string> | undefined

  constructor(kind: string, wholeOf: (part: T) => T = part => part) {
    this.#kind = kind
    this.#wholeOf = wholeOf
  }

  count(part: T, ...names: readonly string[]): void {
    const text = JSON.stringify(part)
    const known = this.#known.get(text)
    if (known) known.times += 1
    else this.#known.set(text, { names, part, times: 1 })
  }

  replace(part: T | SchemaReference): T | SchemaReference {
    const name = this.#shared().get(JSON.stringify(part))
    return name === undefined ? part : { $ref: this.#address(name) }
  }

  all(): Record<string, T> {
    const shared = [...this.#shared()].map(([text, name]) => [name, this.#known.get(text)?.part] as const)
    return Object.fromEntries(shared.map(([name, part]) => [name, this.#wholeOf(part as T)]))
  }

  /** The first part that several operations share gets the shortest name. */
  #shared(): ReadonlyMap<string, string> {
    if (this.#names) return this.#names
    const taken = new Map<string, string>()
    for (const [text, one] of this.#known) {
      const name = one.names.findLast(short => !taken.has(short)) ?? ''
      if (this.#isShared(one, name)) taken.set(name, text)
    }
    this.#names = new Map([...taken].map(([name, text]) => [text, name]))
    return this.#names
  }

  /** A shared part is written once more under its name, so sharing must be shorter than the repetition. */
  #isShared({ part, times }: Repeated<T>, name: string): boolean {
    const reference = this.#address(name).length + REFERENCE
    const whole = JSON.stringify(this.#wholeOf(part)).length
    return JSON.stringify(part).length * times > reference * times + whole + name.length
  }

  #address(name: string): string {
    return `#/components/${this.#kind}/${name}`
  }
}

const REFERENCE = '{"$ref":""}'.length

const operationsIn = (paths: OpenapiDocument['paths']): OperationObject[] =>
  Object.values(paths).flatMap(item => Object.values(item))

const mapOperations = <T>(
  paths: Paths<T>,
  change: (operation: T) => ShortOperation,
): SlicedWork<Paths<ShortOperation>> => mapValuesInSlices(paths, item => mapValues(item, change))
