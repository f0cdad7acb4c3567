import type { z } from 'zod'

/** The events that something emits: by name, the schema of their data. */
export type Events = Readonly<Record<string, z.ZodType>>

/** An event as whoever subscribes to it sees it. */
export interface EventType {
  readonly event: string
  /** What has happened when it is sent. */
  readonly description: string
  readonly reserved: boolean
  /** JSON Schema of `data`. */
  readonly schema: Readonly<Record<string, unknown>>
  /** A `data` that fits. */
  readonly example: Readonly<Record<string, unknown>>
}
