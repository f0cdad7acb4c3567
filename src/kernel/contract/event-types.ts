import type { z } from 'zod'
import { type Areas, registered } from './area.ts'
import { descriptionOf, type EventDescription, type Events } from './events.ts'

const emitted = (areas: Areas): Events[] => [
  ...Object.values(areas).flatMap(({ reactions }) => Object.values(reactions).map(({ emits }) => emits)),
  ...registered(areas).map(({ operation }) => operation.emits),
]

export const emittedNames = (areas: Areas): ReadonlySet<string> =>
  new Set(emitted(areas).flatMap(Object.keys))

export const eventDeclarations = (areas: Areas): Events[] => [
  ...Object.values(areas).map(({ announces }) => announces),
  ...emitted(areas),
]

export function eventSchemas(areas: Areas): ReadonlyMap<string, z.ZodType> {
  const schemas = new Map(eventDeclarations(areas).flatMap(events => Object.entries(events)))
  return new Map([...schemas].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function eventDescriptions(areas: Areas): ReadonlyMap<string, EventDescription> {
  const declarations = eventDeclarations(areas).flatMap(events => Object.entries(events))
  return new Map(
    declarations.flatMap(([event, declaration]) => {
      const description = descriptionOf(declaration)
      return description ? [[event, description] as const] : []
    }),
  )
}
