import { eventExample, webhookDeliveriesTag, webhookOperation } from './event-types.ts'
import { referencedName } from './example.ts'
import { ACCESS_HEADING, eventAndAliasParagraphs } from './operation.ts'
import { describeAccess, scopeIn } from './security.ts'
import type { JsonSchema, OpenapiDocument, OperationObject, Schemas } from './types.ts'

type Webhooks = OpenapiDocument['webhooks']

const ANY = 'event.any'
const ENVELOPE = 'event.envelope'
const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

const envelope: JsonSchema = {
  type: 'object',
  description: 'What all events have in common.',
  properties: {
    event: { type: 'string', description: 'The name, which tells the form of `data`.' },
    createdAt: { type: 'string', format: 'date-time', description: 'When it happened.' },
    data: { description: 'What the event tells, in the form of its name.' },
  },
  required: ['event', 'createdAt', 'data'],
}

/** Describes the one request that a receiver gets, with a schema for each form of data, which names its events. */
export function eventFamilies(webhooks: Webhooks): { post: OperationObject; schemas: Schemas } {
  const byData = Map.groupBy(Object.entries(webhooks), ([, { post }]) => JSON.stringify(dataOf(post)))
  const schemas = [...byData.values()].map(family => {
    const [[first, { post }]] = family as [[string, Webhooks[string]]]
    return [`event.${first}`, familySchema(family, dataOf(post))] as const
  })
  return {
    post: operation(Object.values(webhooks)[0]?.post),
    schemas: {
      [ANY]: { oneOf: schemas.map(([name]) => refTo(name)) },
      [ENVELOPE]: envelope,
      ...Object.fromEntries(schemas),
    },
  }
}

const dataOf = ({ requestBody }: OperationObject): JsonSchema =>
  requestBody?.content['application/json']?.schema?.properties?.data ?? {}

const operation = (sample?: OperationObject): OperationObject => ({
  ...sample,
  operationId: 'on.event',
  tags: [webhookDeliveriesTag.name],
  summary: 'An event that you have subscribed to.',
  description:
    'Sent at least once to every subscription that names it, in no certain order. An event with `x-status` can be subscribed to and does not come: never (`reserved`), or not yet (`announced`).',
  requestBody: { required: true, content: { 'application/json': { schema: refTo(ANY) } } },
  security: [],
  responses: sample?.responses ?? {},
})

const familySchema = (family: [string, Webhooks[string]][], data: JsonSchema): JsonSchema => ({
  allOf: [refTo(ENVELOPE)],
  properties: {
    event: {
      type: 'string',
      oneOf: family.map(([event, { post }]) => ({
        const: event,
        description: post.summary,
        ...(post['x-status'] ? { 'x-status': post['x-status'] } : {}),
      })),
    },
    data,
  },
})

export const isEventSchemaName = (name: string): boolean => name.startsWith('event.')

export function webhooksFromFamilies(schemas: Schemas): Webhooks {
  const forms = schemas[ANY]?.oneOf ?? []
  const events = forms.flatMap(({ $ref = '' }) => {
    const { event, data = {} } = schemas[referencedName($ref)]?.properties ?? {}
    return (event?.oneOf ?? []).map(one => [String(one.const), typeOf(one, data, schemas)] as const)
  })
  return Object.fromEntries(events.sort(([a], [b]) => (a < b ? -1 : 1)))
}

function typeOf(
  { const: name, description = '', 'x-status': status }: JsonSchema,
  schema: JsonSchema,
  schemas: Schemas,
) {
  const event = String(name)
  const example = eventExample(event, schema, schemas)
  return { post: webhookOperation({ event, description, schema, example }, status ?? 'emitted') }
}

const factsOf = ({ security, 'x-events': events = [], 'x-aliases': aliases = [] }: OperationObject) => ({
  access: `${ACCESS_HEADING} ${describeAccess(security)}`,
  more: eventAndAliasParagraphs(events, aliases)
    .map(sentence => ` ${sentence}`)
    .join(''),
})

export function withoutAccessText(operation: OperationObject): OperationObject {
  const { access, more } = factsOf(operation)
  const { 'x-scope': scope, ...rest } = operation
  const named = scopeIn(operation.security) === scope ? rest : operation
  const about = beforeEnd(operation.description, more)
  return { ...named, description: beforeEnd(about, `\n\n${access}`) }
}

const beforeEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, text.length - end.length) : text

export function withAccessText(operation: OperationObject): OperationObject {
  const { access, more } = factsOf(operation)
  const { description } = operation
  const scope = scopeIn(operation.security)
  return {
    ...(scope ? { 'x-scope': scope } : {}),
    ...operation,
    description: `${description.includes(ACCESS_HEADING) ? description : `${description}\n\n${access}`}${more}`,
  }
}
