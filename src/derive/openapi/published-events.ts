import { eventExample, webhookDeliveriesTag, webhookOperation } from './event-types.ts'
import { referencedName, resolveSchema } from './example.ts'
import { ACCESS_HEADING, eventAndAliasParagraphs } from './operation.ts'
import { extension, wholeRecord } from './published-records.ts'
import { isSameJson, mapValues } from './published-schemas.ts'
import { describeAccess, usualSecurity, withoutScope, withScope } from './security.ts'
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
  const families = [...byData.values()].map(family => {
    const [[first, { post }]] = family as [[string, Webhooks[string]]]
    return { name: `event.${first}`, family, data: dataOf(post) }
  })
  const all = Object.fromEntries(families.map(({ name, data }) => [dataName(name), data]))
  const written = mapValues(all, data => extension(data, all))
  const extended = new Set(Object.values(written).map(({ allOf: [base] = [] }) => base?.$ref))
  const shared = families.map(({ name }) => dataName(name)).filter(name => extended.has(refTo(name).$ref))
  const schemas = families.map(({ name, family }) => {
    const own = dataName(name)
    return [name, familySchema(family, shared.includes(own) ? refTo(own) : (written[own] ?? {}))] as const
  })
  return {
    post: operation(Object.values(webhooks)[0]?.post),
    schemas: {
      [ANY]: { oneOf: schemas.map(([name]) => refTo(name)) },
      [ENVELOPE]: envelope,
      ...Object.fromEntries(schemas),
      ...Object.fromEntries(shared.map(name => [name, written[name] ?? {}])),
    },
  }
}

/** Data with which the data of another event begins has a name of its own. */
const dataName = (event: string): string => `${event}.data`

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
    const whole = wholeRecord(data.$ref ? resolveSchema(data.$ref, schemas) : data, schemas)
    return (event?.oneOf ?? []).map(one => [String(one.const), typeOf(one, whole, schemas)] as const)
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

/** An operation without what its other members say. */
export type ShortOperation = Omit<OperationObject, 'description' | 'security'> &
  Partial<Pick<OperationObject, 'description' | 'security'>>

const factsOf = ({
  security,
  'x-events': events = [],
  'x-aliases': aliases = [],
}: Pick<OperationObject, 'security' | 'x-events' | 'x-aliases'>) => ({
  access: `${ACCESS_HEADING} ${describeAccess(security)}`,
  more: eventAndAliasParagraphs(events, aliases)
    .map(sentence => ` ${sentence}`)
    .join(''),
})

export function withoutAccess(operation: OperationObject): ShortOperation {
  const { operationId, tags, summary, description, security, ...rest } = operation
  const { access, more } = factsOf(operation)
  const words = beforeEnd(beforeEnd(description, more), access).trimEnd()
  const schemes = withoutScope(security)
  return {
    operationId,
    tags,
    summary,
    ...(words ? { description: words } : {}),
    ...(isSameJson(schemes, usualSecurity) ? {} : { security: schemes }),
    ...rest,
  }
}

const beforeEnd = (text: string, end: string): string =>
  text.endsWith(end) ? text.slice(0, text.length - end.length) : text

export function withAccess({ description = '', security, ...operation }: ShortOperation): OperationObject {
  const whole = { security: withScope(security ?? usualSecurity, operation['x-scope']), ...operation }
  const { access, more } = factsOf(whole)
  const words = description.includes(ACCESS_HEADING)
    ? description
    : [description, access].filter(Boolean).join('\n\n')
  return { ...whole, description: `${words}${more}` }
}
