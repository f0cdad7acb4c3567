import { atOnce, type Sliced } from '../../kernel/contract/time-slices.ts'
import { exampleOf, nameOf } from './example.ts'
import { notForGenerators } from './for-generators.ts'
import { CODE_HEADER, withAlways } from './headers.ts'
import { jsonIn, type Published, published, USUAL_LIMIT } from './published.ts'
import { isOfEvents, webhooksIn, withFacts } from './published-events.ts'
import { mapValues, withoutParts } from './published-schemas.ts'
import {
  described,
  fullRefusal,
  isRefused,
  isShortRefusal,
  wholeReference,
  wholeShared,
} from './refusal-words.ts'
import type { Document, OperationObject, Reference, ResponseObject, Schemas } from './types.ts'

export function whole(published: Published): Document {
  const { components, ...rest } = notForGenerators(withoutParts(published))
  const { headers, schemas, parameters, responses } = components
  const records = without(schemas, isOfEvents)
  return {
    ...rest,
    paths: mapValues(rest.paths, item => mapValues(item, operation => wholeOperation(operation, components))),
    webhooks: webhooksIn(schemas),
    components: {
      ...components,
      headers: without(headers, name => name === CODE_HEADER),
      schemas: mapValues(records, ({ examples: _, ...schema }) => schema),
      parameters: without(parameters, isOfOperations),
      responses: wholeShared(withoutRefusals(without(responses, isRepeated))),
    },
  }
}

function wholeOperation(operation: OperationObject, components: Published['components']): OperationObject {
  const { parameters = [], responses, requestBody } = operation
  return {
    ...withFacts(operation),
    ...(requestBody ? { requestBody: { description: USUAL_LIMIT, ...requestBody } } : {}),
    parameters: parameters.map(one => follow(one, components.parameters, isOfOperations)),
    responses: mapValues(responses, (one, status) => {
      const found = follow(one, components.responses, isRepeated)
      if (!('$ref' in found)) return wholeResponse(found, status, components.schemas)
      const named = described(found, components.responses)
      return isShortRefusal(named)
        ? withAlways(fullRefusal(named))
        : wholeReference(found, components.responses)
    }),
  }
}

function wholeResponse(response: ResponseObject, status: string, schemas: Schemas): ResponseObject {
  if (isShortRefusal(response)) return withAlways(fullRefusal(response))
  if (isRefused(response)) return withAlways(response)
  return status.startsWith('2') ? wholeSuccess(withAlways(response), schemas) : response
}

/** A part that several operations share is named after the first one and a name or status: `agents.get.200`. */
const isOfOperations = (name: string): boolean => name.includes('.')
const isRepeated = (name: string): boolean => /\w\.\d{3}$/.test(name)

const without = <T>(
  all: Readonly<Record<string, T>>,
  isLeftOut: (name: string) => boolean,
): Record<string, T> => Object.fromEntries(Object.entries(all).filter(([name]) => !isLeftOut(name)))

const withoutRefusals = (all: Readonly<Record<string, ResponseObject | Reference>>) =>
  Object.fromEntries(Object.entries(all).filter(([, one]) => '$ref' in one || !isShortRefusal(one)))

const follow = <T extends object>(
  part: T | Reference,
  parts: Readonly<Record<string, T | Reference>>,
  isFollowed: (name: string) => boolean,
): T | Reference =>
  '$ref' in part && isFollowed(nameOf(part.$ref)) ? (parts[nameOf(part.$ref)] ?? part) : part

function wholeSuccess(response: ResponseObject, schemas: Schemas): ResponseObject {
  const { schema = {}, ...json } = jsonIn(response) ?? {}
  const isShort = Object.keys(schema).length > 0 && json.example === undefined
  const example = isShort && exampleOf(schema, schemas)
  return isShort ? { ...response, content: { 'application/json': { schema, ...json, example } } } : response
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** How many levels of each part have lines of their own. Deeper levels share one line. */
const LEVELS: Readonly<Record<string, number>> = { paths: 4, webhooks: 2, components: 4 }

/** Writes each member of operations, answers and schemas on a line of its own, so that a diff shows each change. */
export const writeDocument = (document: Document): string => atOnce(writeSliced(document))

export function* writeSliced(document: Document): Sliced<string> {
  return `${yield* lines({ ...(yield* published(document)) }, 1, LEVELS)}\n`
}

export const readDocument = (text: string): Document => whole(JSON.parse(text) as Published)

export const linesOf = (document: Json, levels: Readonly<Record<string, number>>): string =>
  `${atOnce(lines(document, 1, levels))}\n`

const isShort = (value: Json, depth: number): boolean => depth <= 2 && JSON.stringify(value).length <= 160

function* lines(value: Json, depth: number, levels: Readonly<Record<string, number>> = {}): Sliced<string> {
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const below = levels[name] ?? depth - 1
    const text =
      below > 0 && isObject(member) && !isShort(member, below)
        ? yield* lines(member, below)
        : JSON.stringify(member)
    members.push(`${JSON.stringify(name)}: ${text}`)
    yield
  }
  return `{\n${members.join(',\n')}\n}`
}
