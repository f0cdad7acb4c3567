import { urgentEvents } from './subscription.ts'

/** What a push says of its event. */
export interface EventHead {
  readonly eventId: string
  readonly event: string
  readonly createdAt: string
}

/** The event and the ids of its data, no more: a locked screen may show it, and the page asks the API for the rest. */
export function payloadOf(head: EventHead, data: Readonly<Record<string, unknown>>): string {
  const ids = Object.entries(data).filter(([name, value]) => /Id$/.test(name) && typeof value === 'string')
  return JSON.stringify({ ...head, ...Object.fromEntries(ids) })
}

/** The topic of an event: a push service keeps one push a topic (RFC 8030), so a repeated event is shown once. */
export const topicOf = (eventId: string): string => eventId.slice(eventId.indexOf('_') + 1).slice(0, 32)

export const urgencyOf = (event: string): 'high' | 'normal' =>
  urgentEvents.includes(event) ? 'high' : 'normal'
