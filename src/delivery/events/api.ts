import { z } from 'zod'
import { get, list, missing } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { recordHead, timeRange } from '../../values/schemas.ts'
import { unknownEventFailure } from './event-names.ts'

export const EventRecord = z
  .object({
    ...recordHead('event'),
    event: z.string().meta({ examples: ['agent.frozen'] }),
    createdAt: instant,
    data: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', status: 'frozen' }] }),
    requestId: z.string().meta({ description: 'The request that caused it.' }),
    runId: id('run').nullable().meta({ description: 'The run that it belongs to.' }),
  })
  .meta({ id: 'Event' })

const EventTypeRecord = z
  .object({
    event: z.string().meta({ examples: ['agent.frozen'] }),
    description: z.string().meta({
      description: 'What has happened when it is sent.',
      examples: ['An agent has been stopped.'],
    }),
    reserved: z.boolean().meta({ description: 'Can be subscribed to, and is never sent.' }),
    schema: z
      .record(z.string(), z.unknown())
      .meta({ description: 'JSON Schema of `data`.', examples: [{ type: 'object' }] }),
    example: z
      .record(z.string(), z.unknown())
      .meta({ examples: [{ agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', status: 'frozen' }] }),
  })
  .meta({ id: 'EventType' })

export const eventsApi = {
  list: list('/events', {
    summary: 'List events',
    description:
      'All that has happened, newest first. An agent’s token sees what happened to its agent, that of a delegation what happened under it.',
    callers: ['key', 'agent'],
    scope: 'events:read',
    filters: {
      event: z
        .string()
        .max(100)
        .optional()
        .meta({ examples: ['agent.frozen'] }),
      agentId: id('agent').optional(),
      ...timeRange,
    },
    item: EventRecord,
    fails: { unknown_event: unknownEventFailure('event') },
  }),
  types: get('/events/types', {
    summary: 'List the kinds of events',
    description:
      'All that can be subscribed to: what has happened when each is sent, the form of its `data`, and an example.',
    callers: ['key', 'agent'],
    scope: 'events:read',
    returns: [200, z.object({ data: z.array(EventTypeRecord) })],
  }),
  get: get('/events/{id}', {
    summary: 'Get an event',
    callers: ['key', 'agent'],
    scope: 'events:read',
    returns: [200, EventRecord],
    fails: { event_not_found: missing('event') },
  }),
}
