import type { z } from 'zod'
import { type Areas, registered } from './area.ts'
import type { Events } from './events.ts'

/** Can be subscribed to, and is never sent. */
export const RESERVED: ReadonlySet<string> = new Set([
  'intent.matched',
  'intent.mismatched',
  'mpp.credential.expired',
])

const emitted = (areas: Areas): Events[] => [
  ...Object.values(areas).flatMap(({ reactions }) => Object.values(reactions).map(({ emits }) => emits)),
  ...registered(areas).map(({ operation }) => operation.emits),
]

/** The names of those that something sends today. */
export const emittedNames = (areas: Areas): ReadonlySet<string> =>
  new Set(emitted(areas).flatMap(Object.keys))

/** Every place that declares events: what areas announce, what reactions and operations emit. */
export const eventDeclarations = (areas: Areas): Events[] => [
  ...Object.values(areas).map(({ announces }) => announces),
  ...emitted(areas),
]

/** The schemas of all events by name. */
export function eventSchemas(areas: Areas): ReadonlyMap<string, z.ZodType> {
  const schemas = new Map(eventDeclarations(areas).flatMap(events => Object.entries(events)))
  return new Map([...schemas].sort(([one], [other]) => (one < other ? -1 : 1)))
}
