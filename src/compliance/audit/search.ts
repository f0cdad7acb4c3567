import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { idsWithin } from '../../kernel/database/created-within.ts'
import { containing, definedOnly, halfOpenRange, withMembers } from '../../kernel/database/entity.ts'
import { withAuditIds } from '../../kernel/journal/audit-id.ts'
import { Event } from '../../kernel/journal/event.ts'
import type { TrailEntry } from '../../trail/index.ts'
import type { auditApi } from './api.ts'
import { entryOf, type FoundEntry } from './entries.ts'

/** The operations that decide about what waits for a person. */
const actions = [
  'intents.approve',
  'intents.deny',
  'cardRequests.approve',
  'cardRequests.deny',
  'transfers.confirmPayee',
] as const

export type DecidingAction = (typeof actions)[number]

/** The events that tell a decision. The same request may write others, such as that of the passkey that has signed it. */
const events = ['intent.approved', 'intent.denied', 'card_limit_request.updated', 'payment.updated'] as const

const inList = (column: string, names: readonly string[]): string =>
  `${column} in (${names.map(name => `'${name}'`).join(', ')})`

/**
 * SQL: the entries of decisions. The names stand in the text, as they do in the index `events_of_decisions`: of parameters
 * PostgreSQL would not know that only its rows are meant.
 */
const OF_DECISIONS = `${inList('action', actions)} and ${inList('event', events)}`

/** Tells an actor's id from a kind of actor by the underscore, which every id has. */
const byActor = (actor: string): Condition<Event> =>
  actor.includes('_') ? { actorId: actor } : { actorType: actor }

const byAction = (action: string): Condition<Event> => ({
  action: action.endsWith('*') ? { $like: `${action.slice(0, -1)}%` } : action,
})

function byText(text: string): Condition<Event> {
  const contains = containing(text)
  return {
    $or: [
      { action: contains },
      { event: contains },
      { resourceId: contains },
      { actorType: contains },
      { actorId: contains },
      { requestId: contains },
    ],
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** What an entry shows of the data of its event. */
function namedIn({ personId, sha256, receivedAt }: TrailEntry['data']) {
  const received = textOrNull(receivedAt)
  return {
    personId: textOrNull(personId),
    sha256: textOrNull(sha256),
    receivedAt: received === null ? null : new Date(received),
  }
}

/** An entry with all that is known of it. */
export function detailsOf(row: FoundEntry) {
  const { at, mode, position } = row
  const { id, data, ...entry } = entryOf(row)
  const place = position === null ? null : Number(position)
  return { ...entry, ...namedIn(data), id, mode, at, data, position: place }
}

export const search: HandlerOf<typeof auditApi.list> = async ({ query }, { page }) => {
  const { actor, action, kind, resource, requestId, agentId, outcome, from, to, q } = query
  const $and: Condition<Event>[] = [
    definedOnly({ resourceId: resource, requestId, agentId, outcome, at: halfOpenRange(from, to) }),
    definedOnly({ id: idsWithin('event', { from, to }) }),
  ]
  if (actor) $and.push(byActor(actor))
  if (action) $and.push(byAction(action))
  if (kind === 'decision') $and.push(sqlCondition(OF_DECISIONS))
  if (q) $and.push(byText(q))
  const found = await page(Event, { $and } as Condition<Event>)
  return withAuditIds({ ...found, data: found.data.map(entry => withMembers(entry, namedIn(entry.data))) })
}
