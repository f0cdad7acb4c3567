import { z } from 'zod'

export type EventSchemas = Readonly<Record<string, z.ZodType>>

export interface EventDescription {
  readonly sentence: string
  readonly reserved: boolean
}

const descriptions = z.registry<EventDescription>()

/** Declares an event. Its sentence is in one contract; others that emit it name its schema only. */
export const declareEvent = <D extends z.ZodType>(sentence: string, data: D): D =>
  described(data, { sentence, reserved: false })

export const declareReservedEvent = <D extends z.ZodType>(sentence: string, data: D): D =>
  described(data, { sentence, reserved: true })

/** One schema serves several events, so each declaration describes a copy. */
function described<D extends z.ZodType>(data: D, description: EventDescription): D {
  const declaration = data.clone()
  descriptions.add(declaration, description)
  return declaration
}

export const eventDescriptionOf = (declaration: z.ZodType): EventDescription | undefined =>
  descriptions.get(declaration)

export interface EventType {
  readonly event: string
  readonly description: string
  readonly reserved: boolean
  readonly schema: Readonly<Record<string, unknown>>
  readonly example: Readonly<Record<string, unknown>>
}
