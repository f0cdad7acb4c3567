import { z } from 'zod'

/** The events that something emits: by name, the schema of their data. */
export type Events = Readonly<Record<string, z.ZodType>>

export interface EventDescription {
  /** What has happened when the event is sent: subscribers choose by it. */
  readonly sentence: string
  /** Whether the event can be subscribed to, but is never sent. */
  readonly reserved: boolean
}

const descriptions = z.registry<EventDescription>()

/**
 * Declares an event: what has happened when it is sent, and the schema of its data. The sentence of an event stands in
 * one contract; others that emit the same event name its schema only.
 */
export const event = <D extends z.ZodType>(sentence: string, data: D): D =>
  described(data, { sentence, reserved: false })

/** Declares an event that can be subscribed to, but is never sent. */
export const reservedEvent = <D extends z.ZodType>(sentence: string, data: D): D =>
  described(data, { sentence, reserved: true })

/** One schema serves several events, so each declaration describes a copy of its own. */
function described<D extends z.ZodType>(data: D, description: EventDescription): D {
  const declaration = data.clone()
  descriptions.add(declaration, description)
  return declaration
}

/** The description that a declaration carries; undefined where it names the schema only. */
export const descriptionOf = (declaration: z.ZodType): EventDescription | undefined =>
  descriptions.get(declaration)

/** An event type as it is published to subscribers. */
export interface EventType {
  readonly event: string
  /** What has happened when it is sent. */
  readonly description: string
  readonly reserved: boolean
  /** JSON Schema of `data`. */
  readonly schema: Readonly<Record<string, unknown>>
  /** An example of `data`. */
  readonly example: Readonly<Record<string, unknown>>
}
