import { area } from '../../kernel/contract/area.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { idsWithin } from '../../kernel/database/created-within.ts'
import { containing, definedOnly, halfOpenRange, withMembers } from '../../kernel/database/entity.ts'
import { withAuditIds } from '../../kernel/journal/audit-id.ts'
import { Event } from '../../kernel/journal/event.ts'
import { auditApi } from './api.ts'

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
function withDetails(entry: Event) {
  const { personId, sha256, receivedAt } = entry.data
  const received = textOrNull(receivedAt)
  return withMembers(entry, {
    personId: textOrNull(personId),
    sha256: textOrNull(sha256),
    receivedAt: received === null ? null : new Date(received),
  })
}

const audit = implement(auditApi, {
  async list({ query: { actor, action, resource, requestId, from, to, q } }, { page }) {
    const $and: Condition<Event>[] = [
      definedOnly({ resourceId: resource, requestId, at: halfOpenRange(from, to) }),
      definedOnly({ id: idsWithin('event', { from, to }) }),
    ]
    if (actor) $and.push(byActor(actor))
    if (action) $and.push(byAction(action))
    if (q) $and.push(byText(q))
    const found = await page(Event, { $and } as Condition<Event>)
    return withAuditIds({ ...found, data: found.data.map(withDetails) })
  },
})

export const auditArea = area('Audit', 'Who did what, when, and from where.', audit)
