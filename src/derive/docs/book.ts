import { universalProblems } from '../../kernel/contract/problem.ts'
import { referencedName, resolveSchema } from '../openapi/example.ts'
import { clientOperationKeys } from '../openapi/for-clients.ts'
import type {
  JsonSchema,
  MediaTypeObject,
  OpenapiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
  SchemaReference,
  Schemas,
  StateMachines,
} from '../openapi/types.ts'
import { API_PLACES, type ApiPlace } from './api-places.ts'
import { type EventGroup, eventsOfGroups, groupDocumentedEvents } from './event-groups.ts'
import { DOCS_PARTS } from './parts.ts'

export interface OperationEntry {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
  readonly parameters: readonly ParameterObject[]
  readonly success: readonly [status: string, response: ResponseObject]
  readonly refusals: readonly DocumentedRefusal[]
}

export interface DocumentedRefusal {
  readonly status: string
  readonly code: string
  readonly message: string
  readonly universal: boolean
}

export interface DocsChapter {
  readonly id: string
  readonly name: string
  readonly about: string
  readonly states: StateMachines
  readonly records: readonly string[]
  readonly entries: readonly OperationEntry[]
  readonly place: ApiPlace
}

/** The chapters of a place of the console, in the order of its tags. */
export interface DocsPlace extends ApiPlace {
  readonly chapters: readonly DocsChapter[]
}

export interface DocsRule {
  readonly id: string
  readonly title: string
  readonly text: string
}

export class DocsBook {
  readonly document: OpenapiDocument
  readonly chapters: readonly DocsChapter[]
  readonly places: readonly DocsPlace[]
  readonly eventGroups: readonly EventGroup[]
  /** The sections of “How the API works”. */
  readonly rules: readonly DocsRule[]
  readonly keysForClients: ReadonlySet<string>
  readonly #records: ReadonlySet<string>
  readonly #addresses: ReadonlyMap<string, string>

  constructor(document: OpenapiDocument) {
    this.document = document
    this.keysForClients = clientOperationKeys(document)
    const entries = entriesOf(document)
    const seen = new Set<string>()
    this.chapters = document.tags.flatMap(({ name, description = '', 'x-states': states = {} }) => {
      const own = entries.filter(({ operation }) => operation.tags[0] === name)
      const records = own
        .flatMap(entry => recordsOf(entry, document))
        .filter(record => !seen.has(record) && seen.add(record))
      return own.length > 0
        ? [
            {
              id: anchorId(name),
              name,
              about: description,
              states,
              records,
              entries: own,
              place: placeOf(name),
            },
          ]
        : []
    })
    this.places = API_PLACES.map(place => ({
      ...place,
      chapters: this.chapters
        .filter(chapter => chapter.place === place)
        .toSorted((one, other) => place.tags.indexOf(one.name) - place.tags.indexOf(other.name)),
    })).filter(({ chapters }) => chapters.length > 0)
    this.#records = seen
    this.eventGroups = groupDocumentedEvents(document)
    this.rules = rulesIn(document)
    this.#addresses = new Map([...this.chapters.flatMap(addressesIn), ...eventAddressesIn(this.eventGroups)])
  }

  get entries(): readonly OperationEntry[] {
    return this.chapters.flatMap(({ entries }) => entries)
  }

  /** The address of an operation, a chapter, a record or an event, or of a part of “How the API works”. */
  href(anchor: string): string {
    return this.#addresses.get(anchor) ?? ruleAddress(anchor)
  }

  follow(schema: JsonSchema): { schema: JsonSchema; record?: string } {
    if (!schema.$ref) return { schema }
    const name = referencedName(schema.$ref)
    const target = resolveSchema(schema.$ref, this.document.components.schemas)
    return { ...this.follow(target), ...(this.#records.has(name) ? { record: name } : {}) }
  }

  parametersOf(operation: OperationObject): ParameterObject[] {
    return parametersIn(this.document, operation)
  }
}

export const OVERVIEW_SECTION = ''

export const docsSectionAddress = (section: string): string =>
  section === OVERVIEW_SECTION ? '/docs' : `/docs/${section}`

export const EVENTS_SECTION = { id: 'event-types', title: 'Event types', arriving: 'received-events' }

/** The address of a section of “How the API works”. */
export const ruleAddress = (id: string): string => `${docsSectionAddress(DOCS_PARTS.api.section)}#${id}`

export const operationSection = (key: string): string => `${DOCS_PARTS.api.section}/${key}`

/** A tag of a test's own area is in no place of the console, and is shown with those of developers. */
const placeOf = (tag: string): ApiPlace =>
  API_PLACES.find(({ tags }) => tags.includes(tag)) ??
  (API_PLACES.find(({ id }) => id === 'developers') as ApiPlace)

const addressesIn = ({ id, records, entries }: DocsChapter): [anchor: string, address: string][] => [
  [id, docsSectionAddress(id)],
  ...entries.map(({ key }): [string, string] => [key, docsSectionAddress(operationSection(key))]),
  ...records.map((record): [string, string] => [
    `record.${record}`,
    `${docsSectionAddress(id)}#record.${record}`,
  ]),
]

const eventAddressesIn = (groups: readonly EventGroup[]): [anchor: string, address: string][] =>
  [
    EVENTS_SECTION.id,
    EVENTS_SECTION.arriving,
    ...groups.map(({ id }) => id),
    ...eventsOfGroups(groups).map(({ id }) => id),
  ].map(anchor => [anchor, `${docsSectionAddress(EVENTS_SECTION.id)}#${anchor}`])

export const anchorId = (name: string): string => name.toLowerCase().replace(/\W+/g, '-')

const rulesIn = ({ info }: OpenapiDocument): DocsRule[] =>
  info.description
    .split(/^## /m)
    .slice(1)
    .map(section => {
      const end = section.indexOf('\n')
      const title = section.slice(0, end)
      return { id: anchorId(title), title, text: section.slice(end) }
    })

const entriesOf = (document: OpenapiDocument): OperationEntry[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      entryOf(document, method.toUpperCase(), path, operation),
    ),
  )

function entryOf(
  document: OpenapiDocument,
  method: string,
  path: string,
  operation: OperationObject,
): OperationEntry {
  const { components } = document
  const responses = Object.entries(operation.responses).map(
    ([status, response]): [string, ResponseObject] => [status, follow(response, components.responses)],
  )
  const [success] = responses
  if (!success?.[0].startsWith('2')) throw new Error(`${operation.operationId} never succeeds`)
  return {
    key: operation.operationId,
    method,
    path,
    operation,
    parameters: parametersIn(document, operation),
    success,
    refusals: responses.slice(1).flatMap(refusalsOf),
  }
}

const parametersIn = (
  { components }: OpenapiDocument,
  { parameters = [] }: OperationObject,
): ParameterObject[] => parameters.map(parameter => follow(parameter, components.parameters))

interface Refused {
  readonly error: string | { readonly message: string }
}

const sentenceOf = ({ error }: Refused): string => (typeof error === 'string' ? error : error.message)

const refusalsOf = ([status, { content = {} }]: [string, ResponseObject]): DocumentedRefusal[] =>
  Object.values(content)
    .flatMap(({ examples = {} }) => Object.entries(examples))
    .map(([code, { value }]) => ({
      status,
      code,
      message: sentenceOf(value as Refused),
      universal: code in universalProblems,
    }))

function follow<T extends object>(part: T | SchemaReference, parts: Readonly<Record<string, T>>): T {
  if (!('$ref' in part)) return part
  const found = parts[referencedName(part.$ref)]
  if (!found) throw new Error(`There is no ${part.$ref}.`)
  return found
}

export const jsonMediaType = ({
  content = {},
}: {
  content?: ResponseObject['content']
}): MediaTypeObject | undefined => content['application/json']

export const streamMediaType = ({
  content = {},
}: {
  content?: ResponseObject['content']
}): (MediaTypeObject & { readonly 'x-itemSchema': JsonSchema }) | undefined =>
  Object.values(content).find(
    (media): media is MediaTypeObject & { 'x-itemSchema': JsonSchema } => 'x-itemSchema' in media,
  )

function namesIn(schema: JsonSchema, schemas: Schemas, found = new Set<string>()): Set<string> {
  if (schema.$ref && !found.has(referencedName(schema.$ref))) {
    const target = resolveSchema(schema.$ref, schemas)
    if (target.properties) found.add(referencedName(schema.$ref))
    namesIn(target, schemas, found)
  }
  const inner = [
    ...Object.values(schema.properties ?? {}),
    schema.items,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
  ]
  for (const one of inner) if (one) namesIn(one, schemas, found)
  return found
}

const recordsOf = ({ success: [, response] }: OperationEntry, { components }: OpenapiDocument): string[] => [
  ...namesIn(
    jsonMediaType(response)?.schema ?? streamMediaType(response)?.['x-itemSchema'] ?? {},
    components.schemas,
  ),
]
