import { z } from 'zod'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { type SqlCondition, sqlCondition } from '../../kernel/contract/conditions.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { declareReservedEvent } from '../../kernel/contract/events.ts'
import { type ByteStream, EVENT_STREAM_TYPE, type ResponseFile } from '../../kernel/contract/file.ts'
import type { StreamedEvent, StreamedEventBatches } from '../../kernel/contract/follow.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { pageOfEvents } from '../../kernel/journal/call-events.ts'
import { Event } from '../../kernel/journal/event.ts'
import { positionAfterEvent } from '../../kernel/journal/journal-position.ts'
import { id } from '../../values/ids.ts'
import { encodeJson } from '../../values/json-names.ts'
import { moneySchema } from '../../values/money.ts'
import type { PersonalData } from '../../values/personal.ts'
import { EventRecord, eventsApi } from './api.ts'
import { eventNameProblem } from './event-names.ts'

const eventsPersonal = {
  event_streams: {
    personal: {},
    plain: ['leased_by'],
  },
} as const satisfies PersonalData

interface Filters {
  readonly event?: string | undefined
  readonly agentId?: string | undefined
}

/** Whether the caller sees an event in its stream: the list's conditions, for one event in memory. */
const visibleTo =
  ({ agentId, delegationId }: Pick<Actor, 'agentId' | 'delegationId'>, filters: Filters) =>
  ({ event, agentId: of, data }: StreamedEvent): boolean =>
    (agentId === null || of === agentId) &&
    (!delegationId || data.delegationId === delegationId) &&
    (filters.event === undefined || event === filters.event) &&
    (filters.agentId === undefined || of === filters.agentId)

const status = (example: string) => z.string().meta({ examples: [example] })
const merchant = z
  .string()
  .max(200)
  .meta({ examples: ['Bookshop'] })
const reason = z.string().max(200).nullable()

const Intent = z.object({
  intentId: id('intent'),
  agentId: id('agent'),
  status: status('matched'),
  amountCents: moneySchema,
  merchant,
  reason,
})

/**
 * The shared part of the event catalogue: reserved events, and those that areas will emit. An event that an
 * operation declares itself takes precedence.
 */
const catalogue = {
  'intent.matched': declareReservedEvent('A charge matches its approved intent.', Intent),
  'intent.mismatched': declareReservedEvent('A charge does not match its approved intent.', Intent),
}

/** Sent at once, so that the client sees the stream open, with the reconnection time in milliseconds. */
const BEGINNING = 'retry: 1000\n\n'
/** A comment keeps proxies from closing a silent stream. */
const STILL_THERE = ': nothing new\n\n'

/** An event is serialized once for all streams of the process. */
const made = new WeakMap<StreamedEvent, Buffer>()

function bytesOf(event: StreamedEvent): Buffer {
  const known = made.get(event)
  if (known !== undefined) return known
  const data = JSON.stringify(encodeJson(EventRecord, event as z.output<typeof EventRecord>))
  const bytes = Buffer.from(`id: ${event.id}\ndata: ${data}\n\n`)
  made.set(event, bytes)
  return bytes
}

/** Chunks shared by streams that send the same events, by the first of these. */
const sent = new WeakMap<
  StreamedEvent,
  { readonly events: readonly StreamedEvent[]; readonly bytes: Buffer }
>()

function bytesOfAll(events: readonly StreamedEvent[]): Buffer {
  const [first] = events
  if (!first || events.length === 1) return Buffer.concat(events.map(bytesOf))
  const known = sent.get(first)
  if (known?.events.length === events.length && known.events.every((event, n) => event === events[n]))
    return known.bytes
  const bytes = Buffer.concat(events.map(bytesOf))
  sent.set(first, { events, bytes })
  return bytes
}

async function* piecesOf(events: StreamedEventBatches): ByteStream {
  yield BEGINNING
  for await (const some of events) yield some.length === 0 ? STILL_THERE : bytesOfAll(some)
}

const streamed = (events: StreamedEventBatches): ResponseFile => ({
  type: `${EVENT_STREAM_TYPE}; charset=utf-8`,
  content: piecesOf(events),
})

/** A delegation's token sees the events under its delegation. The expression equals that of the index. */
const underDelegation = ({ delegationId }: Actor): SqlCondition =>
  delegationId ? sqlCondition(`(data ->> 'delegationId') = ?`, [delegationId]) : {}

/**
 * The operator has no tenant and reads the platform's events. The headers are read for the operator only: the
 * console sends none.
 */
function actForPlatform(context: Context<'owner_required'>): Refusal | undefined {
  if (context.actor.tenant) return undefined
  if (context.headers['x-owner-id'] !== PLATFORM_OWNER_ID) return context.refuse('owner_required')
  context.switchTenant({ ownerId: PLATFORM_OWNER_ID, mode: 'live' })
  return undefined
}

const events = bindHandlers(eventsApi, {
  async list({ query: { event, agentId, requestId, ...span } }, context) {
    const unnamed = actForPlatform(context)
    if (unnamed) return unnamed
    const unknown = eventNameProblem('event', event, context.service)
    if (unknown) return context.refuse('unknown_event', unknown)
    const created = await createdWithinCondition('event', span, context)
    const { actor } = context
    const condition = { ...definedOnly({ event, agentId, requestId, ...created }), ...underDelegation(actor) }
    // The indexes by name and by delegation have an entry for each event.
    if (requestId === undefined && (event !== undefined || actor.delegationId))
      return context.page(Event, condition)
    return pageOfEvents(context, condition, { requestId, agentId: agentId ?? actor.agentId, id: created.id })
  },

  async types(_, { service, pageOf }) {
    const types = await service.eventTypes()
    return pageOf(types.map(type => ({ ...type, id: type.event })))
  },

  async stream({ query }, context) {
    const { actor, ending, headers, service, refuse, sql, tenant } = context
    const unknown = eventNameProblem('event', query.event, service)
    if (unknown) return refuse('unknown_event', unknown)
    const { agentId, delegationId = null } = actor
    const last = headers['last-event-id'] || undefined
    const from = last && (await positionAfterEvent(sql, last, { tenant, agentId, delegationId }))
    if (last && !from) return refuse('unknown_last_event')
    const isVisible = visibleTo(actor, query)
    const isWanted = (event: StreamedEvent) => event.id !== last && isVisible(event)
    const events = await service.openEventStream({ tenant, from: from || undefined, isWanted, ending })
    return events ? streamed(events) : refuse('too_many_streams')
  },

  async get({ params }, context) {
    const unnamed = actForPlatform(context)
    if (unnamed) return unnamed
    const { em, actor, refuse } = context
    return (
      (await em.findOne(Event, { id: params.id, ...underDelegation(actor) })) ?? refuse('event_not_found')
    )
  },
})

export const eventsArea = area('Events', 'Events, as webhooks deliver them.', events, {
  personal: eventsPersonal,
  entities: [Event],
  announces: catalogue,
})
