import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Actor } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { FollowedEvent } from '../../kernel/contract/follow.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { Event } from '../../kernel/journal/event.ts'
import { positionAfter } from '../../kernel/journal/journal-position.ts'
import { eventsApi } from './api.ts'
import { catalogue } from './catalogue.ts'
import { eventNameProblem } from './event-names.ts'
import { eventsPersonal } from './personal.ts'
import { streamed } from './stream.ts'
import { visibleTo } from './visible.ts'

/** A delegation's token sees the events under its delegation; the expression is that of the index. */
const underDelegation = ({ delegationId }: Actor): object =>
  delegationId ? sqlCondition(`(data ->> 'delegationId') = ?`, [delegationId]) : {}

/**
 * The operator has no tenant of its own, and reads what happened to the platform. Headers are read for the operator alone:
 * a page of the console asks without any.
 */
function actForPlatform(
  context: Pick<Context<'owner_required'>, 'actor' | 'actFor' | 'headers' | 'refuse'>,
): Refusal | undefined {
  if (context.actor.tenant) return undefined
  if (context.headers['x-owner-id'] !== PLATFORM_OWNER) return context.refuse('owner_required')
  context.actFor({ ownerId: PLATFORM_OWNER, mode: 'live' })
  return undefined
}

const events = implement(eventsApi, {
  async list({ query: { event, agentId, requestId, ...span } }, context) {
    const unnamed = actForPlatform(context)
    if (unnamed) return unnamed
    const unknown = eventNameProblem('event', event, context.ports)
    if (unknown) return context.refuse('unknown_event', unknown)
    const created = await createdWithin('event', span, context)
    return context.page(Event, {
      ...definedOnly({ event, agentId, requestId, ...created }),
      ...underDelegation(context.actor),
    })
  },

  async types(_, { ports, pageOf }) {
    const types = await ports.eventTypes()
    return pageOf(types.map(type => ({ ...type, id: type.event })))
  },

  async stream({ query }, context) {
    const { actor, ending, headers, ports, refuse, sql, tenant } = context
    const unknown = eventNameProblem('event', query.event, ports)
    if (unknown) return refuse('unknown_event', unknown)
    const { agentId, delegationId = null } = actor
    const last = headers['last-event-id'] || undefined
    const from = last && (await positionAfter(sql, last, { tenant, agentId, delegationId }))
    if (last && !from) return refuse('unknown_last_event')
    const isVisible = visibleTo(actor, query)
    const isWanted = (event: FollowedEvent) => event.id !== last && isVisible(event)
    const events = await ports.openEventStream({ tenant, from: from || undefined, isWanted, ending })
    return events ? streamed(events) : refuse('too_many_streams')
  },

  async get({ params }, context) {
    const unnamed = actForPlatform(context)
    if (unnamed) return unnamed
    const { records, actor, refuse } = context
    return (
      (await records.findOne(Event, { id: params.id, ...underDelegation(actor) })) ??
      refuse('event_not_found')
    )
  },
})

export const eventsArea = area('Events', 'What has happened, as webhooks tell it.', events, {
  personal: eventsPersonal,
  entities: [Event],
  announces: catalogue,
})
