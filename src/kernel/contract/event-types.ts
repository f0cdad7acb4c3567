import type { z } from 'zod'
import { type Areas, allOperations } from './area.ts'
import { type EventDescription, type EventSchemas, eventDescriptionOf } from './events.ts'

const emitted = (areas: Areas): EventSchemas[] => [
  ...Object.values(areas).flatMap(({ reactions }) => Object.values(reactions).map(({ emits }) => emits)),
  ...allOperations(areas).map(({ operation }) => operation.emits),
]

export const emittedEventNames = (areas: Areas): ReadonlySet<string> =>
  new Set(emitted(areas).flatMap(Object.keys))

export const eventDeclarations = (areas: Areas): EventSchemas[] => [
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
      const description = eventDescriptionOf(declaration)
      return description ? [[event, description] as const] : []
    }),
  )
}
