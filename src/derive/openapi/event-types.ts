import type { Areas } from '../../kernel/area.ts'
import { type EventType, eventSchemas, RESERVED } from '../../kernel/event-types.ts'
import { eventExample } from './event-example.ts'
import { SchemaCollector } from './schemas.ts'
import type { Document, JsonSchema } from './types.ts'

/** All events with the form of their `data`, and an example of it. */
export function eventTypesOf(areas: Areas, schemas = new SchemaCollector()): EventType[] {
  return [...eventSchemas(areas)].map(([event, data]) => {
    const schema = schemas.add(data)
    return {
      event,
      reserved: RESERVED.has(event),
      schema: { ...schema },
      example: eventExample(event, schema, schemas.all()) as EventType['example'],
    }
  })
}

const string = (more: Partial<JsonSchema> = {}): JsonSchema => ({ type: 'string', ...more })

const HEADERS: readonly (readonly [name: string, schema: JsonSchema, description: string])[] = [
  ['X-Service-Event', string(), 'The name of the event.'],
  ['X-Service-Timestamp', string({ pattern: '^[0-9]+$' }), 'Unix seconds at signing.'],
  ['X-Service-Delivery-Id', string(), 'Another one for each attempt.'],
  [
    'X-Service-Signature',
    string({ pattern: '^sha256=[0-9a-f]{64}$' }),
    'HMAC-SHA256 with the secret of the subscription over delivery id, `.`, timestamp, `.` and the raw body.',
  ],
  ['X-Request-Id', string(), 'The request that caused the event.'],
]

const NEXT_SIGNATURE = {
  ...{ name: 'X-Service-Signature-Next', in: 'header' as const, required: false },
  description: 'While a new secret is about to take over: the same with that one.',
  schema: string({ pattern: '^sha256=[0-9a-f]{64}$' }),
}

/** What receivers are sent: an operation of theirs for each event. */
export const webhooksOf = (types: readonly EventType[]): Document['webhooks'] =>
  Object.fromEntries(
    types.map(({ event, reserved, schema, example }) => [
      event,
      {
        post: {
          operationId: `on.${event}`,
          tags: ['Webhooks'],
          summary: `The event ${event}`,
          description: reserved
            ? 'Reserved: it can be subscribed to, and is never sent.'
            : 'Sent at least once to every subscription that names it, in no certain order.',
          security: [],
          parameters: [
            ...HEADERS.map(([name, header, description]) => ({
              ...{ name, in: 'header' as const, required: true, description, schema: header },
            })),
            NEXT_SIGNATURE,
          ],
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: bodyOf(event, schema), example: messageOf(event, example) },
            },
          },
          responses: {
            '2XX': {
              description: 'Taken. Anything else, or nothing within 30 seconds, is a failed attempt.',
            },
            '410': { description: 'Wants nothing more: the subscription is disabled.' },
          },
        },
      },
    ]),
  )

const bodyOf = (event: string, data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { event: string({ const: event }), createdAt: string({ format: 'date-time' }), data },
  required: ['event', 'createdAt', 'data'],
})

const messageOf = (event: string, data: unknown) => ({ event, createdAt: '2026-11-20T09:30:00.000Z', data })
