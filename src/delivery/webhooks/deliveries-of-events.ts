import type { Tenant } from '../../kernel/contract/actor.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'

/** The time in the id of an event, with which the ids of its deliveries begin. */
const BEGINNING = { from: 'event_'.length, to: 'event_'.length + 10 } as const

/** The range of the ids of an event's deliveries: the primary key finds them. */
export function idsOfEvent(eventId: string): { $gte: string; $lt: string } {
  const first = `delivery_${eventId.slice(BEGINNING.from, BEGINNING.to)}`
  return { $gte: first, $lt: `${first}~` }
}

/** The deliveries of the events of a request, each found by the primary key. `?` are owner, mode and request. */
const OF_REQUEST = `
id = any(array(
  select d.id from (
    select e.owner_id, e.mode, e.id from events e
    where e.owner_id = ? and e.mode = ? and e.request_id = ? order by e.id desc limit 1000
  ) e
  cross join lateral (
    select one.id from deliveries one
    where one.owner_id = e.owner_id and one.mode = e.mode and one.event_id = e.id
      and one.id >= 'delivery_' || substr(e.id, 7, 10) and one.id < 'delivery_' || substr(e.id, 7, 10) || '~'
  ) d
))`

export const ofRequest = (requestId: string | undefined, { ownerId, mode }: Tenant) =>
  requestId === undefined ? {} : sqlCondition(OF_REQUEST, [ownerId, mode, requestId])
