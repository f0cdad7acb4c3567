import { problems } from '../../kernel/contract/problem.ts'
import { nameOf, resolve } from '../openapi/example.ts'
import { keysForClients } from '../openapi/for-clients.ts'
import type {
  Document,
  JsonSchema,
  MediaType,
  OperationObject,
  Parameter,
  Reference,
  ResponseObject,
  Schemas,
  States,
} from '../openapi/types.ts'
import { type EventGroup, eventGroupsOf, eventsIn } from './event-groups.ts'

export interface Entry {
  readonly key: string
  readonly method: string
  readonly path: string
  readonly operation: OperationObject
  readonly parameters: readonly Parameter[]
  readonly success: readonly [status: string, response: ResponseObject]
  readonly refusals: readonly Refusal[]
}

export interface Refusal {
  readonly status: string
  readonly code: string
  readonly message: string
  readonly universal: boolean
}

export interface Chapter {
  readonly id: string
  readonly name: string
  readonly about: string
  readonly states: States
  readonly records: readonly string[]
  readonly entries: readonly Entry[]
}

export class Book {
  readonly document: Document
  readonly chapters: readonly Chapter[]
  readonly eventGroups: readonly EventGroup[]
  readonly keysForClients: ReadonlySet<string>
  readonly #records: ReadonlySet<string>
  readonly #sections: ReadonlyMap<string, string>

  constructor(document: Document) {
    this.document = document
    this.keysForClients = keysForClients(document)
    const entries = entriesOf(document)
    const seen = new Set<string>()
    this.chapters = document.tags.flatMap(({ name, description = '', 'x-states': states = {} }) => {
      const own = entries.filter(({ operation }) => operation.tags[0] === name)
      const records = own
        .flatMap(entry => recordsOf(entry, document))
        .filter(record => !seen.has(record) && seen.add(record))
      return own.length > 0
        ? [{ id: idOf(name), name, about: description, states, records, entries: own }]
        : []
    })
    this.#records = seen
    this.eventGroups = eventGroupsOf(document)
    this.#sections = new Map([...this.chapters.flatMap(anchorsIn), ...eventAnchorsIn(this.eventGroups)])
  }

  get entries(): readonly Entry[] {
    return this.chapters.flatMap(({ entries }) => entries)
  }

  href(anchor: string): string {
    return `${addressOf(this.#sections.get(anchor) ?? OVERVIEW)}#${anchor}`
  }

  follow(schema: JsonSchema): { schema: JsonSchema; record?: string } {
    if (!schema.$ref) return { schema }
    const name = nameOf(schema.$ref)
    const target = resolve(schema.$ref, this.document.components.schemas)
    return { ...this.follow(target), ...(this.#records.has(name) ? { record: name } : {}) }
  }

  parametersOf(operation: OperationObject): Parameter[] {
    return parametersIn(this.document, operation)
  }
}

export const OVERVIEW = ''

export const addressOf = (section: string): string => (section === OVERVIEW ? '/docs' : `/docs/${section}`)

export const EVENTS = { id: 'event-types', title: 'Event types', arriving: 'received-events' }

const anchorsIn = ({ id, records, entries }: Chapter): [anchor: string, section: string][] => [
  [id, id],
  ...entries.map(({ key }): [string, string] => [key, id]),
  ...records.map((record): [string, string] => [`record.${record}`, id]),
]

const eventAnchorsIn = (groups: readonly EventGroup[]): [anchor: string, section: string][] =>
  [EVENTS.id, EVENTS.arriving, ...groups.map(({ id }) => id), ...eventsIn(groups).map(({ id }) => id)].map(
    anchor => [anchor, EVENTS.id],
  )

export const idOf = (name: string): string => name.toLowerCase().replace(/\W+/g, '-')

const entriesOf = (document: Document): Entry[] =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) =>
      entryOf(document, method.toUpperCase(), path, operation),
    ),
  )

function entryOf(document: Document, method: string, path: string, operation: OperationObject): Entry {
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

const parametersIn = ({ components }: Document, { parameters = [] }: OperationObject): Parameter[] =>
  parameters.map(parameter => follow(parameter, components.parameters))

interface Refused {
  readonly error: string | { readonly message: string }
}

const sentenceOf = ({ error }: Refused): string => (typeof error === 'string' ? error : error.message)

const refusalsOf = ([status, { content = {} }]: [string, ResponseObject]): Refusal[] =>
  Object.values(content)
    .flatMap(({ examples = {} }) => Object.entries(examples))
    .map(([code, { value }]) => ({
      status,
      code,
      message: sentenceOf(value as Refused),
      universal: code in problems,
    }))

function follow<T extends object>(part: T | Reference, parts: Readonly<Record<string, T>>): T {
  if (!('$ref' in part)) return part
  const found = parts[nameOf(part.$ref)]
  if (!found) throw new Error(`There is no ${part.$ref}.`)
  return found
}

export const jsonOf = ({ content = {} }: { content?: ResponseObject['content'] }): MediaType | undefined =>
  content['application/json']

export const streamOf = ({
  content = {},
}: {
  content?: ResponseObject['content']
}): (MediaType & { readonly 'x-itemSchema': JsonSchema }) | undefined =>
  Object.values(content).find(
    (media): media is MediaType & { 'x-itemSchema': JsonSchema } => 'x-itemSchema' in media,
  )

function namesIn(schema: JsonSchema, schemas: Schemas, found = new Set<string>()): Set<string> {
  if (schema.$ref && !found.has(nameOf(schema.$ref))) {
    const target = resolve(schema.$ref, schemas)
    if (target.properties) found.add(nameOf(schema.$ref))
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

const recordsOf = ({ success: [, response] }: Entry, { components }: Document): string[] => [
  ...namesIn(jsonOf(response)?.schema ?? streamOf(response)?.['x-itemSchema'] ?? {}, components.schemas),
]
