import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { eventStreamSchema } from '../../kernel/contract/file.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, searchTextSchema, timeRangeMembers } from '../../values/schemas.ts'
import { unknownEventRefusal } from './event-names.ts'

export const EventRecord = z
  .object({
    ...recordHead('event'),
    event: z.string().meta({ examples: ['agent.frozen'] }),
    createdAt: instant,
    data: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', status: 'frozen' }] }),
    requestId: z.string().meta({ description: 'The request that caused the event.' }),
    runId: id('run').nullable().meta({ description: 'The run that the event belongs to.' }),
  })
  .meta({ id: 'Event' })

const EventTypeRecord = z
  .object({
    event: z.string().meta({ examples: ['agent.frozen'] }),
    description: z.string().meta({
      description: 'When the event is sent.',
      examples: ['An agent has been stopped.'],
    }),
    reserved: z
      .boolean()
      .meta({ description: 'Whether the event is reserved: it can be subscribed to, and is never sent.' }),
    schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'JSON Schema of `data`.', examples: [{ type: 'object' }] }),
    example: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', status: 'frozen' }] }),
  })
  .meta({ id: 'EventType' })

const filters = {
  event: z
    .string()
    .max(100)
    .optional()
    .meta({ examples: ['agent.frozen'] }),
  agentId: id('agent').optional(),
}

/** The operator reads the platform's own events, such as those of incidents. */
const ownerHeader = {
  'x-owner-id': 'With the dashboard secret: `customer_house`, for the platform’s events. Ignored otherwise.',
} as const

const owner_required: RefusalSpec = [
  400,
  'X-Owner-Id is required with the dashboard secret. Send customer_house: only the platform’s events can be read this way.',
]

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'events:read' })

export const eventsApi = {
  list: readers.list('/events', {
    summary: 'List events',
    description:
      'All events, newest first. An agent’s token sees its agent’s events, a delegation’s token those of the delegation, the dashboard the platform’s.',
    callers: ['key', 'agent', 'dash'],
    http: { reads: ownerHeader },
    filters: {
      ...filters,
      requestId: searchTextSchema.meta({ description: 'Events caused by this request.' }),
      ...timeRangeMembers,
    },
    item: EventRecord,
    fails: { unknown_event: unknownEventRefusal('event'), owner_required },
  }),
  types: readers.list('/events/types', {
    summary: 'List the kinds of events',
    description:
      'All events that can be subscribed to: when each is sent, the form of its `data`, and an example.',
    item: EventTypeRecord,
  }),
  stream: readers.get('/events/stream', {
    summary: 'Stream events',
    description: [
      'Server-sent events until you disconnect: each event as `GET /events/{id}` returns it, with its ID as the `id` of the message, in the order in which they were committed.\n\nThe stream starts now, or after the event in `Last-Event-ID`: then no event is missing, and none comes twice in a stream. After fifteen seconds without an event, a comment shows that the stream is alive.',
      'The stream ends when the credential does, and when the service is restarted: connect again with the ID of the last event. An event that is sent again has the same ID. A client that reads nothing for thirty seconds is disconnected. An owner can have 20 streams in both modes together. An agent’s token sees its agent’s events, a delegation’s token those of the delegation. A stream is no activity of a person in the console.',
    ].join('\n\n'),
    query: z.strictObject(filters),
    http: {
      reads: {
        'last-event-id':
          'The ID of the last event that you have: the stream begins with the next one. Browsers send it automatically.',
      },
    },
    returns: [200, eventStreamSchema(EventRecord)],
    fails: {
      unknown_event: unknownEventRefusal('event'),
      unknown_last_event: [
        400,
        'Last-Event-ID: no such event. Send the ID of an event that you can read with GET /events/{id}, or omit the header to start now.',
      ],
      too_many_streams: [
        429,
        'You have 20 open streams, the limit across all processes and both modes. Close one, or share one between readers.',
      ],
    },
  }),
  get: readers.get('/events/{id}', {
    summary: 'Get an event',
    callers: ['key', 'agent', 'dash'],
    http: { reads: ownerHeader },
    returns: [200, EventRecord],
    fails: { event_not_found: notFound('event'), owner_required },
  }),
}
