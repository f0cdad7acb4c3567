import { exampleOf, nameOf } from './example.ts'
import { ALWAYS, jsonIn, type Published, USUAL_LIMIT } from './published.ts'
import { isOfEvents, webhooksIn } from './published-events.ts'
import { withFacts } from './published-facts.ts'
import { mapValues, withoutParts } from './published-schemas.ts'
import { fullRefusal, isShortRefusal, wholeReference, wholeShared } from './refusal-words.ts'
import type { Document, OperationObject, Reference, ResponseObject, Schemas } from './types.ts'

/** The document as it was before `published` has made it shorter: every operation with all that it says. */
export function whole(published: Published): Document {
  const { components, ...rest } = withoutParts(published)
  const { schemas, parameters, responses } = components
  const records = without(schemas, isOfEvents)
  return {
    ...rest,
    paths: mapValues(rest.paths, item => mapValues(item, operation => wholeOperation(operation, components))),
    webhooks: webhooksIn(schemas),
    components: {
      ...components,
      schemas: mapValues(records, ({ examples: _, ...schema }) => schema),
      parameters: without(parameters, isOfOperations),
      responses: wholeShared(without(responses, name => isRepeated(name) || isShortRefusal(name))),
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
      if (!('$ref' in found)) return status.startsWith('2') ? wholeSuccess(found, components.schemas) : found
      return isShortRefusal(nameOf(found.$ref))
        ? fullRefusal(found, components.responses)
        : wholeReference(found, components.responses)
    }),
  }
}

/** What several operations have is called by the first of them, with a name or a status: `agents.get.200`. */
const isOfOperations = (name: string): boolean => name.includes('.')
const isRepeated = (name: string): boolean => /\w\.\d{3}$/.test(name)

const without = <T>(
  all: Readonly<Record<string, T>>,
  isLeftOut: (name: string) => boolean,
): Record<string, T> => Object.fromEntries(Object.entries(all).filter(([name]) => !isLeftOut(name)))

const follow = <T extends object>(
  part: T | Reference,
  parts: Readonly<Record<string, T | Reference>>,
  isFollowed: (name: string) => boolean,
): T | Reference =>
  '$ref' in part && isFollowed(nameOf(part.$ref)) ? (parts[nameOf(part.$ref)] ?? part) : part

function wholeSuccess(response: ResponseObject, schemas: Schemas): ResponseObject {
  const { headers = {} } = response
  const always = ALWAYS.map(name => [name, { $ref: `#/components/headers/${name}` }])
  const { schema = {}, ...json } = jsonIn(response) ?? {}
  const isShort = Object.keys(schema).length > 0 && json.example === undefined
  const example = isShort && exampleOf(schema, schemas)
  return {
    ...response,
    headers: ALWAYS.some(name => name in headers) ? headers : { ...Object.fromEntries(always), ...headers },
    ...(isShort ? { content: { 'application/json': { schema, ...json, example } } } : {}),
  }
}
