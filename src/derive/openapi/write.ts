import { runAtOnce, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { referencedName, schemaExample } from './example.ts'
import { restoreFromGenerators } from './for-generators.ts'
import { REFUSAL_CODE_HEADER, withCommonHeaders, withReplayHeader } from './headers.ts'
import {
  type CompactDocument,
  compactDocument,
  DEFAULT_BODY_LIMIT_TEXT,
  jsonMediaTypeIn,
  withRequestId,
} from './published.ts'
import {
  isEventSchemaName,
  type ShortOperation,
  webhooksFromFamilies,
  withAccess,
} from './published-events.ts'
import { withWholeRecords } from './published-records.ts'
import { mapValues, withoutSharedSchemas } from './published-schemas.ts'
import {
  expandRefusals,
  isRefusalResponse,
  resolveResponse,
  type Sentences,
  sentencesIn,
  sharedRefusals,
} from './refusal-words.ts'
import type { OpenapiDocument, OperationObject, ResponseObject, SchemaReference, Schemas } from './types.ts'

export function expandDocument(published: CompactDocument): OpenapiDocument {
  const {
    components,
    security: _,
    ...rest
  } = restoreFromGenerators(withWholeRecords(withoutSharedSchemas(published)))
  const { headers, schemas, parameters } = components
  const records = without(schemas, isEventSchemaName)
  const sentences = sentencesIn(components.responses)
  const paths = mapValues(rest.paths, item =>
    mapValues(item, operation => wholeOperation(operation, components, sentences)),
  )
  return {
    ...rest,
    paths,
    webhooks: webhooksFromFamilies(schemas),
    components: {
      ...components,
      headers: without(headers, name => name === REFUSAL_CODE_HEADER),
      schemas: mapValues(records, ({ examples: _, 'x-example': __, ...schema }) => schema),
      parameters: without(parameters, isOfOperations),
      responses: sharedRefusals(Object.values(paths).flatMap(item => Object.values(item))),
    },
  }
}

function wholeOperation(
  operation: ShortOperation,
  components: CompactDocument['components'],
  sentences: Sentences,
): OperationObject {
  const { parameters = [], responses, requestBody } = operation
  const isReplayed = JSON.stringify(parameters).includes('IdempotencyKey')
  const found = mapValues(responses, one => {
    const part = follow(one, components.responses, isRepeated)
    return '$ref' in part ? resolveResponse(part, components.responses) : part
  })
  const whole = expandRefusals(found, sentences)
  return {
    ...withAccess(operation),
    ...(requestBody ? { requestBody: { description: DEFAULT_BODY_LIMIT_TEXT, ...requestBody } } : {}),
    parameters: withRequestId(parameters).map(one => follow(one, components.parameters, isOfOperations)),
    responses: mapValues(whole, (one, status) =>
      '$ref' in one ? one : wholeResponse(one, { status, isReplayed, schemas: components.schemas }),
    ),
  }
}

interface Place {
  readonly status: string
  readonly isReplayed: boolean
  readonly schemas: Schemas
}

function wholeResponse(response: ResponseObject, { status, isReplayed, schemas }: Place): ResponseObject {
  if (isRefusalResponse(response)) return withCommonHeaders(response)
  if (!status.startsWith('2')) return response
  const success = wholeSuccess(withCommonHeaders(response), schemas)
  return isReplayed ? withReplayHeader(success) : success
}

/** A part that several operations share is named after the first one and a name or status: `agents.get.200`, or `limit`. */
const isOfOperations = (name: string): boolean => /^[a-z]/.test(name)
const isRepeated = (name: string): boolean => /\w\.(\d{3}|default)$/.test(name)

const without = <T>(
  all: Readonly<Record<string, T>>,
  isLeftOut: (name: string) => boolean,
): Record<string, T> => Object.fromEntries(Object.entries(all).filter(([name]) => !isLeftOut(name)))

const follow = <T extends object>(
  part: T | SchemaReference,
  parts: Readonly<Record<string, T | SchemaReference>>,
  isFollowed: (name: string) => boolean,
): T | SchemaReference =>
  '$ref' in part && isFollowed(referencedName(part.$ref)) ? (parts[referencedName(part.$ref)] ?? part) : part

function wholeSuccess(response: ResponseObject, schemas: Schemas): ResponseObject {
  const { schema = {}, ...json } = jsonMediaTypeIn(response) ?? {}
  const isShort = Object.keys(schema).length > 0 && json.example === undefined
  if (!isShort) return response
  const whole = { schema, ...json, example: schemaExample(schema, schemas) }
  return { ...response, content: { ...response.content, 'application/json': whole } }
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many levels of each part have lines of their own. Deeper levels share one line. */
const LEVELS: Readonly<Record<string, number>> = { paths: 4, webhooks: 2, components: 4 }

/** Has no space behind a colon, since programs read it more often than people do. Writes each member of operations, answers and schemas on a line of its own, so that a diff shows each change. */
export const writeDocument = (document: OpenapiDocument): string => runAtOnce(writeDocumentInSlices(document))

export function* writeDocumentInSlices(document: OpenapiDocument): SlicedWork<string> {
  return `${yield* lines({ ...(yield* compactDocument(document)) }, 1, LEVELS, ':')}\n`
}

export const parseOpenapiFile = (text: string): OpenapiDocument =>
  expandDocument(JSON.parse(text) as CompactDocument)

export const writeJsonLines = (document: Json, levels: Readonly<Record<string, number>>): string =>
  `${runAtOnce(lines(document, 1, levels))}\n`

const isShort = (value: Json, depth: number): boolean => depth <= 2 && JSON.stringify(value).length <= 480

function* lines(
  value: Json,
  depth: number,
  levels: Readonly<Record<string, number>> = {},
  colon = ': ',
): SlicedWork<string> {
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const below = levels[name] ?? depth - 1
    const text =
      below > 0 && isObject(member) && !isShort(member, below)
        ? yield* lines(member, below, {}, colon)
        : JSON.stringify(member)
    members.push(`${JSON.stringify(name)}${colon}${text}`)
    yield
  }
  return `{\n${members.join(',\n')}\n}`
}
