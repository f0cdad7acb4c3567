import type { Areas } from '../../kernel/contract/area.ts'
import { emittedEventNames, eventDescriptions, eventSchemas } from '../../kernel/contract/event-types.ts'
import type { EventType } from '../../kernel/contract/events.ts'
import { runAtOnce, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { type ExampleValues, schemaExample } from './example.ts'
import { SchemaCollector } from './schemas.ts'
import type { JsonSchema, OpenapiDocument, OperationObject, ParameterObject, Schemas } from './types.ts'

export const eventTypesOf = (areas: Areas): EventType[] => runAtOnce(eventTypesInSlices(areas))

export function* eventTypesInSlices(areas: Areas, schemas = new SchemaCollector()): SlicedWork<EventType[]> {
  const types: EventType[] = []
  const descriptions = eventDescriptions(areas)
  for (const [event, data] of eventSchemas(areas)) {
    const schema = schemas.add(data)
    const description = descriptions.get(event)
    types.push({
      event,
      description: description?.sentence ?? `The event ${event}.`,
      reserved: description?.reserved ?? false,
      schema: { ...schema },
      example: eventExample(event, schema, schemas.all()) as EventType['example'],
    })
    yield
  }
  return types
}

const string = (more: Partial<JsonSchema> = {}): JsonSchema => ({ type: 'string', ...more })

const signature = (description: string) => ({
  description,
  schema: string({ pattern: '^sha256=[0-9a-f]{64}$' }),
})

const HEADERS: Readonly<Record<string, { description: string; schema?: JsonSchema; required?: boolean }>> = {
  'X-Service-Event': { description: 'The name of the event.' },
  'X-Service-Timestamp': { description: 'Unix seconds at signing.', schema: string({ pattern: '^[0-9]+$' }) },
  'X-Service-Delivery-Id': {
    description: 'Another one for each attempt. What stands before its last `-` is the same for all of them.',
  },
  'X-Service-Event-Id': {
    description: 'The id of the event: the same for every attempt, every replay and every subscription.',
  },
  'X-Service-Signature': signature(
    'HMAC-SHA256 with the secret of the subscription over delivery id, `.`, timestamp, `.` and the raw body.',
  ),
  'X-Service-Signature-Next': {
    ...signature('The same with the new secret, while one is about to take over.'),
    required: false,
  },
  'X-Request-Id': { description: 'The request that caused the event.' },
  'webhook-id': { description: 'The id of the event, as Standard Webhooks names it.' },
  'webhook-timestamp': { description: 'As `X-Service-Timestamp`.', schema: string({ pattern: '^[0-9]+$' }) },
  'webhook-signature': {
    description:
      'By Standard Webhooks: `v1,` and the HMAC-SHA256, in base64, with the decoded `standardSecret` over `webhook-id`, `.`, timestamp, `.` and the raw body. While a secret is rotated two of them, with a space between.',
    schema: string({ pattern: '^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$' }),
  },
}

export const deliveryHeaders: Readonly<Record<string, ParameterObject>> = Object.fromEntries(
  Object.entries(HEADERS).map(([name, { description, schema = string(), required = true }]) => [
    `Delivery-${name}`,
    { name, in: 'header', required, description, schema },
  ]),
)

const parameters = Object.keys(deliveryHeaders).map(name => ({ $ref: `#/components/parameters/${name}` }))

/** Differs from the tag of the operations on subscriptions, since a generator writes one file for each tag. */
export const webhookDeliveriesTag = {
  name: 'Webhook deliveries',
  description: 'What this service sends to the addresses of your subscriptions.',
}

export function documentedWebhooks(areas: Areas, types: readonly EventType[]): OpenapiDocument['webhooks'] {
  const emitted = emittedEventNames(areas)
  const statusOf = ({ event, reserved }: EventType) =>
    reserved ? 'reserved' : emitted.has(event) ? 'emitted' : 'announced'
  return Object.fromEntries(types.map(type => [type.event, { post: webhookOperation(type, statusOf(type)) }]))
}

const WHEN = {
  emitted: 'Sent at least once to every subscription that names it, in no certain order.',
  reserved: 'Reserved: it can be subscribed to, and is never sent.',
  announced: 'It can be subscribed to; nothing sends it yet.',
}

interface Described {
  readonly event: string
  readonly description: string
  readonly schema: JsonSchema
  readonly example: unknown
}

export const webhookOperation = (
  { event, description, schema, example }: Described,
  status: keyof typeof WHEN,
): OperationObject => ({
  operationId: `on.${event}`,
  tags: [webhookDeliveriesTag.name],
  summary: description,
  description: WHEN[status],
  ...(status === 'emitted' ? {} : { 'x-status': status }),
  security: [],
  parameters,
  requestBody: {
    required: true,
    content: { 'application/json': { schema: bodyOf(event, schema), example: messageOf(event, example) } },
  },
  responses: {
    '2XX': {
      description: 'Accepted. Any other status, or no answer within 30 seconds, is a failed attempt.',
    },
    '410': { description: 'Gone: the subscription is disabled.' },
  },
})

const bodyOf = (event: string, data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { event: string({ const: event }), createdAt: string({ format: 'date-time' }), data },
  required: ['event', 'createdAt', 'data'],
})

const messageOf = (event: string, data: unknown) => ({ event, createdAt: '2026-11-20T09:30:00.000Z', data })

const WORDS: ExampleValues = {
  merchant: 'Bookshop',
  actualMerchant: 'Bookstore',
  name: 'Research',
  label: 'Laptop',
  country: 'DE',
  reason: 'Unusual spending',
  last4: '4242',
  score: 72,
  signal: 'velocity',
  points: 40,
  changed: ['name'],
  messageId: 'MSG-2026-11-20-1',
}

const STATES: Readonly<Record<string, string>> = {
  unfrozen: 'active',
  redeemed: 'active',
  assigned: 'matched',
  failed: 'rejected',
  reversed: 'settled',
}

export function eventExample(event: string, schema: JsonSchema, schemas: Schemas): unknown {
  const verb = event.slice(event.lastIndexOf('.') + 1)
  const states = schema.properties?.status?.enum ?? []
  const status = [verb, STATES[verb]].find(state => states.includes(state))
  return schemaExample(schema, schemas, status === undefined ? WORDS : { ...WORDS, status })
}
