import { urgentEvents } from './subscription.ts'

/** What a browser is told. */
export interface Told {
  readonly eventId: string
  readonly event: string
  readonly createdAt: string
}

/** Names and ids: what a screen shows to passers-by says nothing, and the rest is asked for by whoever may see it. */
export function payloadOf(told: Told, data: Readonly<Record<string, unknown>>): string {
  const ids = Object.entries(data).filter(([name, value]) => /Id$/.test(name) && typeof value === 'string')
  return JSON.stringify({ ...told, ...Object.fromEntries(ids) })
}

/** Of two pushes of one event a push service keeps the last (RFC 8030): an event that is sent again is shown once. */
export const topicOf = (eventId: string): string => eventId.slice(eventId.indexOf('_') + 1).slice(0, 32)

export const urgencyOf = (event: string): 'high' | 'normal' =>
  urgentEvents.includes(event) ? 'high' : 'normal'
